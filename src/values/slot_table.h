// Finds things by their hashes, in the order in which they were added: 0, 1, … The things themselves stay with the
// caller, who compares them. Open addressing: a standard map is too slow for what is asked for every gang.
#pragma once

#include <cstddef>
#include <vector>

namespace harmony {

class SlotTable {
public:
  SlotTable() : slots_(first_slots, -1) {}

  // The one with this hash that is the same, or -1.
  template <typename Same> int find(std::size_t hash, const Same &same) const {
    for (std::size_t at = hash & (slots_.size() - 1); slots_[at] >= 0; at = (at + 1) & (slots_.size() - 1))
      if (hashes_[static_cast<std::size_t>(slots_[at])] == hash && same(slots_[at])) return slots_[at];
    return -1;
  }

  // One that is not there yet; its number.
  int add(std::size_t hash) {
    hashes_.push_back(hash);
    const int number = static_cast<int>(hashes_.size()) - 1;
    if (hashes_.size() * 2 <= slots_.size()) {
      enter(number);
    } else {
      slots_.assign(slots_.size() * 2, -1);
      for (int each = 0; each <= number; ++each) enter(each);
    }
    return number;
  }

  std::size_t hash(int number) const { return hashes_[static_cast<std::size_t>(number)]; }

  void clear() {
    hashes_.clear();
    slots_.assign(first_slots, -1);
  }

private:
  static constexpr std::size_t first_slots = 1024; // a power of two, as all later sizes

  void enter(int number) {
    std::size_t at = hash(number) & (slots_.size() - 1);
    while (slots_[at] >= 0) at = (at + 1) & (slots_.size() - 1);
    slots_[at] = number;
  }

  std::vector<std::size_t> hashes_;
  std::vector<int> slots_;
};

} // namespace harmony
