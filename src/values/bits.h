// A set of small numbers (cores, GPUs, nodes), as words of bits. A plain value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace harmony {

class Bits {
public:
  Bits() = default;
  explicit Bits(int size) : size_(size), words_((static_cast<std::size_t>(size) + 63) / 64) {}

  // How many numbers it can hold: 0 to size() - 1.
  int size() const { return size_; }

  bool test(int bit) const { return bit >= 0 && bit < size_ && (words_[word(bit)] & mask(bit)); }
  void set(int bit) { words_[word(bit)] |= mask(bit); }
  void clear(int bit) { words_[word(bit)] &= ~mask(bit); }
  void set_all() {
    for (std::uint64_t &each : words_) each = ~std::uint64_t{0};
    if (size_ % 64) words_.back() = mask(size_) - 1;
  }

  int count() const {
    int total = 0;
    for (const std::uint64_t each : words_) total += __builtin_popcountll(each);
    return total;
  }
  bool any() const {
    for (const std::uint64_t each : words_)
      if (each) return true;
    return false;
  }

  // The first number of the set from `bit` on, or -1.
  int next(int bit) const {
    if (bit < 0) bit = 0;
    if (bit >= size_) return -1;
    std::size_t at = word(bit);
    std::uint64_t rest = words_[at] & ~(mask(bit) - 1);
    while (!rest) {
      if (++at == words_.size()) return -1;
      rest = words_[at];
    }
    return static_cast<int>(at * 64) + __builtin_ctzll(rest);
  }
  int first() const { return next(0); }

  // Of the two sets; the other may be smaller and counts as empty beyond its end.
  Bits &operator&=(const Bits &other) {
    for (std::size_t i = 0; i < words_.size(); ++i) words_[i] &= i < other.words_.size() ? other.words_[i] : 0;
    return *this;
  }
  Bits &operator|=(const Bits &other) {
    for (std::size_t i = 0; i < words_.size() && i < other.words_.size(); ++i) words_[i] |= other.words_[i];
    return *this;
  }
  // The same, and it grows to hold all of the other.
  Bits &join(const Bits &other) {
    if (other.size_ > size_) {
      size_ = other.size_;
      words_.resize(other.words_.size());
    }
    return *this |= other;
  }
  Bits &operator-=(const Bits &other) {
    for (std::size_t i = 0; i < words_.size() && i < other.words_.size(); ++i) words_[i] &= ~other.words_[i];
    return *this;
  }
  bool contains(const Bits &other) const {
    for (std::size_t i = 0; i < other.words_.size(); ++i)
      if (other.words_[i] & ~(i < words_.size() ? words_[i] : 0)) return false;
    return true;
  }
  bool overlaps(const Bits &other) const {
    for (std::size_t i = 0; i < words_.size() && i < other.words_.size(); ++i)
      if (words_[i] & other.words_[i]) return true;
    return false;
  }
  bool operator==(const Bits &other) const { return size_ == other.size_ && words_ == other.words_; }

  // The words themselves, bit 0 the lowest of the first; bits beyond size() stay 0.
  std::vector<std::uint64_t> &words() { return words_; }
  const std::vector<std::uint64_t> &words() const { return words_; }

private:
  static std::size_t word(int bit) { return static_cast<std::size_t>(bit) / 64; }
  static std::uint64_t mask(int bit) { return std::uint64_t{1} << (bit & 63); }

  int size_ = 0;
  std::vector<std::uint64_t> words_;
};

// for (int core : each(cores)) …
class EachBit {
public:
  explicit EachBit(const Bits &bits) : bits_(bits) {}
  struct Iterator {
    const Bits *bits;
    int at;
    int operator*() const { return at; }
    Iterator &operator++() {
      at = bits->next(at + 1);
      return *this;
    }
    bool operator!=(const Iterator &other) const { return at != other.at; }
  };
  Iterator begin() const { return {&bits_, bits_.first()}; }
  Iterator end() const { return {&bits_, -1}; }

private:
  const Bits &bits_;
};
inline EachBit each(const Bits &bits) { return EachBit(bits); }
EachBit each(Bits &&) = delete; // it would be gone before the loop begins

} // namespace harmony
