// How long jobs run, as far as their time limits tell: the part of a limit that jobs of a type usually take at their
// best, which a model knows from its dataset. A plain value.
#pragma once

#include <algorithm>
#include <cstddef>
#include <ctime>
#include <utility>
#include <vector>

namespace harmony {

class UsualTimes {
public:
  static constexpr float assumed_part = 1.0f / 3, least_part = 0.01f;

  // By type, the unknown one first; types beyond them are taken to need a third.
  explicit UsualTimes(std::vector<float> parts = {}) : parts_(std::move(parts)) {}

  // Seconds at the best speed, of a job that has `limit_s`.
  double seconds(int type, double limit_s) const {
    const auto at = static_cast<std::size_t>(type);
    const float part = at < parts_.size() ? parts_[at] : assumed_part;
    return std::max(60.0, limit_s) * static_cast<double>(std::clamp(part, least_part, 1.0f));
  }

  // Of those what is left, of a job that went at `speed` so far. One that takes longer than usual is expected to take
  // a tenth more.
  double seconds_left(int type, std::time_t started, std::time_t ends, std::time_t now, double speed) const {
    const double all = seconds(type, static_cast<double>(ends - started));
    return std::max(0.1 * all, all - speed * static_cast<double>(std::max<std::time_t>(0, now - started)));
  }

private:
  std::vector<float> parts_;
};

} // namespace harmony
