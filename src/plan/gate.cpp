#include "src/plan/gate.h"

namespace harmony {
namespace {

constexpr int most_fruitless = 3;

} // namespace

void Gate::set_limits(const GateLimits &limits) {
  const std::lock_guard lock(mutex_);
  limits_ = limits;
}

GateAnswer Gate::ask(std::uint32_t job, std::int64_t now, std::uint64_t begun, std::uint64_t ended) {
  const std::lock_guard lock(mutex_);
  Hold &hold = holds_[job];
  hold.asked = now;
  if (hold.active) {
    const std::int64_t held = now - hold.since;
    if (ended <= hold.begun && held < limits_.hold_ms && hold.held_before + held < limits_.in_all_ms)
      return GateAnswer::hold;
    hold.active = false;
    hold.held_before += held;
    hold.opened = now;
    return GateAnswer::just_opened;
  }
  // Once open it stays so for a while: a job that can be planned in no way must not be held back again and again.
  if (hold.opened >= 0 && now - hold.opened < 3 * limits_.hold_ms) return GateAnswer::open;
  if (hold.held_before >= limits_.in_all_ms) return GateAnswer::open;
  hold.active = true;
  hold.since = now;
  hold.begun = begun;
  return GateAnswer::hold;
}

void Gate::had_no_room(std::uint32_t job, std::uint64_t round, std::int64_t now) {
  const std::lock_guard lock(mutex_);
  Hold &hold = holds_[job];
  if (!hold.active || round <= hold.begun) return;
  hold.active = false;
  hold.held_before += now - hold.since;
  if (++hold.fruitless < most_fruitless) return;
  hold.fruitless = 0;
  hold.opened = now;
}

void Gate::has_plan(std::uint32_t job, std::int64_t now) {
  const std::lock_guard lock(mutex_);
  const auto found = holds_.find(job);
  if (found == holds_.end()) return;
  Hold &hold = found->second;
  hold.asked = now;
  if (hold.active) hold.held_before += now - hold.since;
  hold.active = false;
  hold.opened = -1;
  hold.fruitless = 0;
}

int Gate::missed(std::uint32_t job, std::uint64_t round, std::int64_t now) {
  const std::lock_guard lock(mutex_);
  Hold &hold = holds_[job];
  hold.asked = now;
  if (hold.misses == 0 || hold.missed_round != round) ++hold.misses;
  hold.missed_round = round;
  return hold.misses;
}

void Gate::forget(std::uint32_t job) {
  const std::lock_guard lock(mutex_);
  holds_.erase(job);
}

bool Gate::first_time(std::uint32_t job, int cause, std::int64_t now) {
  const std::lock_guard lock(mutex_);
  Hold &hold = holds_[job];
  hold.asked = now;
  const std::uint32_t bit = 1u << cause;
  const bool first = !(hold.said & bit);
  hold.said |= bit;
  return first;
}

void Gate::forget_silent_since(std::int64_t when) {
  const std::lock_guard lock(mutex_);
  for (auto each = holds_.begin(); each != holds_.end();)
    each = each->second.asked < when ? holds_.erase(each) : std::next(each);
}

std::size_t Gate::size() const {
  const std::lock_guard lock(mutex_);
  return holds_.size();
}

} // namespace harmony
