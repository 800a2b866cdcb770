// How numbers become features: finite and within [0, 1], whatever comes in.
#pragma once

#include <algorithm>
#include <cmath>

namespace harmony {

// log(1 + x) / log(1 + cap), in steps of 2^-16: logarithms differ in their last digits from machine to machine.
inline float scaled_log(double value, double cap) {
  if (!(value > 0)) return 0; // NaN too
  return static_cast<float>(std::round(std::log1p(std::min(value, cap)) / std::log1p(cap) * 65536) / 65536);
}

inline float part(double of, double whole) {
  if (!(of > 0) || !(whole > 0)) return 0;
  return static_cast<float>(std::min(1.0, of / whole));
}

inline float flag(bool value) { return value ? 1.0f : 0.0f; }

// Sums in another order differ in their last digits, and that is no reason to call two nodes different.
inline float steady(double value) {
  if (!(value > 0)) return 0;
  return static_cast<float>(std::round(std::min(value, 1e6) * 256) / 256);
}

constexpr double a_week_s = 604800;
constexpr double load_cap = 16;

} // namespace harmony
