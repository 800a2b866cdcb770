// When a model that keeps failing is no longer asked, and when it is asked again. Time is what the caller says it is,
// in milliseconds of a clock that never goes back. A plain value without locks: its owner guards it.
#pragma once

#include "src/values/model_fault.h"

#include <cstdint>
#include <string>

namespace harmony {

struct BreakerLimits {
  int faults = 5;                         // so many in a row open it
  int probes = 3;                         // so many good ones in a row close it
  std::int64_t pause_ms = 30 * 1000;      // how long it stays open at first; each time twice as long
  std::int64_t longest_pause_ms = 600000; // up to this (or pause_ms, if that is longer)
  std::int64_t calm_ms = 600000;          // closed for so long, the next pause is the first again
};

class Breaker {
public:
  enum class State {
    closed,  // the model decides
    open,    // it is not asked
    probing, // it is asked in shadow: its answer is judged and not used
  };

  explicit Breaker(const BreakerLimits &limits = {}) : limits_(limits), pause_ms_(limits.pause_ms) {}

  State state(std::int64_t now) const;

  // What became of asking the model. Answers that come while it is open count for nothing.
  void good(std::int64_t now);
  // no_model and breaker_open count for nothing: nobody was asked.
  void fault(std::int64_t now, ModelFault fault);

  // One line for people; begins with "closed", "open" or "probing".
  std::string text(std::int64_t now) const;

private:
  void open(std::int64_t now);

  BreakerLimits limits_;
  std::int64_t pause_ms_; // the next one
  bool closed_ = true;
  std::int64_t closed_since_ = 0;
  std::int64_t open_until_ = 0;
  int faults_ = 0;        // in a row while closed, or which opened it
  int probes_ = 0;        // good ones in a row
  bool reopened_ = false; // by a fault while probing
  ModelFault last_ = ModelFault::failed;
};

} // namespace harmony
