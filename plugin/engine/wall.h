// The wall: every function that the overlay may call in the engine runs its C++ inside behind_wall, which turns
// an exception into a log line and the answer that makes the overlay delegate to stock.
//
// Knows nothing of Slurm, so that it can be tested without it. May be used from any thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <ctime>
#include <exception>

namespace harmony {

// How a wall is seen from outside: what it caught, and whether it is time for a line in the log again.
class WallLog {
public:
  // Counts one exception. True if it should be logged: the first, then one a minute at most, so that a
  // fault in job_test, called thousands of times a second, cannot fill the disk.
  bool count(std::time_t now) {
    caught_.fetch_add(1, std::memory_order_relaxed);
    std::time_t last = last_line_.load(std::memory_order_relaxed);
    return (last == 0 || now - last >= 60 || now < last) && last_line_.compare_exchange_strong(last, now);
  }
  std::uint64_t caught() const { return caught_.load(std::memory_order_relaxed); }

private:
  std::atomic<std::uint64_t> caught_{0};
  std::atomic<std::time_t> last_line_{0};
};

// Runs `body`; on an exception calls `say(what)` as often as `log` allows, and returns `otherwise`.
template <class Result, class Body, class Say>
Result behind_wall(WallLog &log, Result otherwise, Say say, Body body) noexcept {
  try {
    return body();
  } catch (const std::exception &problem) {
    if (log.count(std::time(nullptr))) say(problem.what());
  } catch (...) {
    if (log.count(std::time(nullptr))) say("an exception that is no std::exception");
  }
  return otherwise;
}

} // namespace harmony
