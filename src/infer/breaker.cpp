#include "src/infer/breaker.h"

#include <fmt/format.h>

#include <algorithm>

namespace harmony {

Breaker::State Breaker::state(std::int64_t now) const {
  if (closed_) return State::closed;
  return now < open_until_ ? State::open : State::probing;
}

void Breaker::good(std::int64_t now) {
  const State before = state(now);
  if (before == State::closed) faults_ = 0;
  if (before != State::probing || ++probes_ < limits_.probes) return;
  closed_ = true;
  closed_since_ = now;
  faults_ = 0;
  reopened_ = false;
}

void Breaker::fault(std::int64_t now, ModelFault fault) {
  if (fault == ModelFault::no_model || fault == ModelFault::breaker_open) return;
  const State before = state(now);
  if (before == State::open) return;
  last_ = fault;
  reopened_ = before == State::probing;
  if (reopened_ || ++faults_ >= limits_.faults) open(now);
}

void Breaker::open(std::int64_t now) {
  if (closed_ && now - closed_since_ >= limits_.calm_ms) pause_ms_ = limits_.pause_ms;
  closed_ = false;
  probes_ = 0;
  open_until_ = now + pause_ms_;
  pause_ms_ = std::min(2 * pause_ms_, std::max(limits_.longest_pause_ms, limits_.pause_ms));
}

std::string Breaker::text(std::int64_t now) const {
  constexpr std::int64_t second = 1000;
  const std::string count =
      fmt::format("{} fault{}{}", faults_, faults_ == 1 ? "" : "s", faults_ == 1 ? "" : " in a row");
  const std::string cause = fmt::format("{}: {}", reopened_ ? "a fault while probing" : count, model_fault_name(last_));
  switch (state(now)) {
  case State::closed: return faults_ == 0 ? "closed" : fmt::format("closed, after {}", cause);
  case State::open: return fmt::format("open for {} s more after {}", (open_until_ - now + second - 1) / second, cause);
  case State::probing: break;
  }
  return fmt::format("probing: {} of {} good ones, after {}", probes_, limits_.probes, cause);
}

} // namespace harmony
