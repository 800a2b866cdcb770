// The steady clock, in plain numbers.
#pragma once

#include <chrono>
#include <cstdint>

namespace harmony {

inline std::int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

inline std::int64_t now_ms() { return now_ns() / 1000000; }

} // namespace harmony
