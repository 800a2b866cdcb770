// Numbers keys in the order in which they are first met: 0, 1, … Made for thousands of look-ups for every gang, which a
// standard map is too slow for.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace harmony {

template <std::size_t words> class KeyIndex {
public:
  using Key = std::array<std::uint64_t, words>;

  // Made for about so many keys; more are no problem.
  explicit KeyIndex(std::size_t expected = 0) {
    std::size_t slots = 64;
    while (slots < 2 * expected) slots *= 2;
    slots_.assign(slots, -1);
    keys_.reserve(expected);
  }

  // A key that is new gets size() as it was before.
  std::size_t of(const Key &key) {
    std::size_t at = hash(key) & (slots_.size() - 1);
    while (slots_[at] >= 0 && !same(keys_[static_cast<std::size_t>(slots_[at])], key))
      at = (at + 1) & (slots_.size() - 1);
    if (slots_[at] >= 0) return static_cast<std::size_t>(slots_[at]);
    slots_[at] = static_cast<int>(keys_.size());
    keys_.push_back(key);
    if (keys_.size() > slots_.size() / 2) grow();
    return keys_.size() - 1;
  }

  std::size_t size() const { return keys_.size(); }

private:
  static bool same(const Key &one, const Key &other) {
    std::uint64_t apart = 0;
    for (std::size_t i = 0; i < words; ++i) apart |= one[i] ^ other[i];
    return !apart;
  }

  static std::size_t hash(const Key &key) {
    std::uint64_t mixed = 0;
    for (const std::uint64_t word : key) {
      mixed = (mixed ^ word) * 0x9e3779b97f4a7c15u;
      mixed ^= mixed >> 32;
    }
    return static_cast<std::size_t>(mixed);
  }

  void grow() {
    slots_.assign(slots_.size() * 4, -1);
    for (std::size_t i = 0; i < keys_.size(); ++i) {
      std::size_t at = hash(keys_[i]) & (slots_.size() - 1);
      while (slots_[at] >= 0) at = (at + 1) & (slots_.size() - 1);
      slots_[at] = static_cast<int>(i);
    }
  }

  std::vector<Key> keys_;
  std::vector<int> slots_; // open addressing; a power of two
};

} // namespace harmony
