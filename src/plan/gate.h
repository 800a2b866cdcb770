// The gate: a managed job that stock would start before there is a plan for it is held back, but for one round at most.
// It opens by itself: when a round that began later has ended without a plan, when rounds take too long, and for good
// when a job was held for MaxWait in all. Times are milliseconds of any clock that does not go back.
//
// One lock, a leaf: nothing is called while it is held.
#pragma once

#include <cstdint>
#include <mutex>
#include <unordered_map>

namespace harmony {

struct GateLimits {
  std::int64_t hold_ms = 5000;     // one hold at most, should the round never end
  std::int64_t in_all_ms = 600000; // all holds of a job: MaxWait
};

enum class GateAnswer {
  hold,        // not yet
  just_opened, // let it go; it was held until now
  open,        // let it go
};

class Gate {
public:
  void set_limits(const GateLimits &limits);

  // A job would start now, and has no plan. `begun` and `ended` are the numbers of the last rounds that did so.
  GateAnswer ask(std::uint32_t job, std::int64_t now, std::uint64_t begun, std::uint64_t ended);

  // A round looked at the job and found no room, and since then some came back: it may be held for another round, but
  // not again and again.
  void had_no_room(std::uint32_t job, std::uint64_t round, std::int64_t now);

  // There is a plan for the job after all; if it turns out stale, the job may be held again.
  void has_plan(std::uint32_t job, std::int64_t now);

  // A plan for the job could not be carried out. Returns how often in a row, for plans of different rounds.
  int missed(std::uint32_t job, std::uint64_t round, std::int64_t now);

  // Whether this is the first time that the log is told of this cause for this job.
  bool first_time(std::uint32_t job, int cause, std::int64_t now);

  // The job started or is gone. Jobs that did not ask for so long are gone; that one is not among those that a round
  // plans just now says nothing.
  void forget(std::uint32_t job);
  void forget_silent_since(std::int64_t when);

  std::size_t size() const;

private:
  struct Hold {
    bool active = false;
    std::int64_t since = 0;
    std::uint64_t begun = 0;
    std::int64_t held_before = 0; // in holds that are over
    std::int64_t opened = -1;
    int fruitless = 0;      // holds in a row that ended without a plan
    std::uint32_t said = 0; // causes, as bits
    std::int64_t asked = 0; // the last time that anything happened
    int misses = 0;
    std::uint64_t missed_round = 0;
  };

  mutable std::mutex mutex_;
  GateLimits limits_;
  std::unordered_map<std::uint32_t, Hold> holds_;
};

} // namespace harmony
