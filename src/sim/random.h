// Random numbers that are the same on every machine and with every standard library: the standard's distributions are
// not. For one thread.
#pragma once

#include <cmath>
#include <cstdint>
#include <string_view>

namespace harmony {

class Random {
public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  // A stream of its own for each purpose, so that one more number here changes nothing there.
  Random(std::uint64_t seed, std::string_view purpose, std::uint64_t which = 0) : state_(seed) {
    for (const char each : purpose) state_ = (next() ^ static_cast<unsigned char>(each)) * 0x9e3779b97f4a7c15;
    state_ ^= which * 0xbf58476d1ce4e5b9;
  }

  std::uint64_t next() { // splitmix64
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  double unit() { return static_cast<double>(next() >> 11) * 0x1p-53; } // [0, 1)
  int below(int n) { return static_cast<int>(unit() * n); }
  double exponential(double mean) { return -mean * std::log1p(-unit()); }
  double normal() { // Box and Muller, one of the pair
    const double radius = std::sqrt(-2 * std::log1p(-unit()));
    return radius * std::cos(6.283185307179586 * unit());
  }

private:
  std::uint64_t state_;
};

} // namespace harmony
