// A set of GPUs of one node: what Bits is, but of a fixed size, so that sets are made and thrown away at no cost.
#pragma once

#include "src/values/topology.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace harmony {

class GpuSet {
public:
  bool test(int gpu) const { return words_[word(gpu)] & mask(gpu); }
  void set(int gpu) { words_[word(gpu)] |= mask(gpu); }
  void clear(int gpu) { words_[word(gpu)] &= ~mask(gpu); }

  bool empty() const {
    std::uint64_t any = 0;
    for (const std::uint64_t each : words_) any |= each;
    return !any;
  }

  // The first GPU from this one on, or -1.
  int next(int gpu) const {
    if (gpu >= max_gpus) return -1;
    std::size_t at = word(gpu);
    std::uint64_t rest = words_[at] & ~(mask(gpu) - 1);
    while (!rest) {
      if (++at == words_.size()) return -1;
      rest = words_[at];
    }
    return static_cast<int>(at * 64) + __builtin_ctzll(rest);
  }

  GpuSet lowest(int count) const {
    GpuSet found;
    for (int gpu = next(0); gpu >= 0 && count-- > 0; gpu = next(gpu + 1)) found.set(gpu);
    return found;
  }

  std::vector<int> numbers() const {
    std::vector<int> found;
    for (int gpu = next(0); gpu >= 0; gpu = next(gpu + 1)) found.push_back(gpu);
    return found;
  }

  GpuSet &operator|=(const GpuSet &other) {
    for (std::size_t i = 0; i < words_.size(); ++i) words_[i] |= other.words_[i];
    return *this;
  }

  bool operator==(const GpuSet &other) const { return words_ == other.words_; }

  // Of two sets of one size, that with the lower numbers, compared from the lowest on.
  bool operator<(const GpuSet &other) const {
    for (std::size_t i = 0; i < words_.size(); ++i)
      if (const std::uint64_t apart = words_[i] ^ other.words_[i]) return words_[i] & apart & (~apart + 1);
    return false;
  }

private:
  static std::size_t word(int gpu) { return static_cast<std::size_t>(gpu) / 64; }
  static std::uint64_t mask(int gpu) { return std::uint64_t{1} << (gpu & 63); }

  static_assert(max_gpus % 64 == 0, "whole words");
  std::array<std::uint64_t, max_gpus / 64> words_{};
};

} // namespace harmony
