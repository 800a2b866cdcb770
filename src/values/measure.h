// Adds the time from its making to its end to a Timing.
#pragma once

#include "src/values/clock.h"
#include "src/values/timing.h"

namespace harmony {

class Measure {
public:
  explicit Measure(Timing *timing) : timing_(timing) {} // nullptr: nobody wants to know
  explicit Measure(Timing &timing) : Measure(&timing) {}
  ~Measure() {
    if (timing_) timing_->add(now_ns() - begin_);
  }
  Measure(const Measure &) = delete;
  Measure &operator=(const Measure &) = delete;

private:
  Timing *timing_;
  std::int64_t begin_ = now_ns();
};

} // namespace harmony
