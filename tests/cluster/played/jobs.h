// The batch jobs that are being played: timers instead of processes.
//
// Owner of all job state. Every function may be called from any thread; each takes the one lock inside and holds it for
// no more than a few map operations.
//
// A job's way: Starting (slurmctld has not been answered yet) -> Running <-> Paused -> Ending (the completion
// is on its way to slurmctld) -> gone. It stays here until slurmctld has taken the completion, because an epilog
// message sent earlier would let a requeued job start, and the late completion would then end its second run.
#ifndef PLAYED_NODES_JOBS_H
#define PLAYED_NODES_JOBS_H

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace played {

using Clock = std::chrono::steady_clock;

struct Script {
  Clock::duration length{0};
  int exit_code = 0;
};

// The first line "sleep N" and the first line "exit N" of a batch script.
Script read_script(const std::string &text);

struct Completion {
  uint32_t job_id = 0;
  uint32_t run = 0; // tells this run of the job from an earlier one that was aborted
  uint32_t uid = 0;
  size_t node = 0;
  uint32_t status = 0; // as from wait(2)
};

enum class Terminated {
  NotHere,      // no batch script here: the epilog can be reported at once
  EndsNow,      // the script was ended; send the completion, the epilog follows it
  AlreadyEnding // a completion is on its way; the epilog follows it
};

class JobTable {
public:
  explicit JobTable(int wake_fd) : wake_fd_(wake_fd) {}

  bool launch(uint32_t job_id, uint32_t uid, size_t node, const Script &script); // false: it is here already
  void start(uint32_t job_id); // slurmctld knows that the launch arrived: the timer begins

  // slurmctld sends these to every node of a job; only the node of the batch script acts.
  void forget(uint32_t job_id, size_t node); // aborted: no completion is sent
  void pause(uint32_t job_id, size_t node);
  void resume(uint32_t job_id, size_t node);
  std::optional<Completion> end(uint32_t job_id, size_t node, uint32_t status);
  Terminated terminate(uint32_t job_id, size_t node, Completion &completion);

  std::vector<Completion> take_due(Clock::time_point now);
  std::optional<Clock::time_point> next_due() const;

  bool waits_for_completion(const Completion &completion) const;
  bool completed(const Completion &completion); // true: now report the epilog
  std::vector<uint32_t> on_node(size_t node) const;

private:
  enum class Phase { Starting, Running, Paused, Ending };
  struct Job {
    Phase phase = Phase::Starting;
    uint32_t run = 0;
    uint32_t uid = 0;
    size_t node = 0;
    uint32_t status = 0;
    bool epilog_wanted = false;
    Clock::duration left{0}; // Starting, Paused
    Clock::time_point due{}; // Running
  };

  Job *find(uint32_t job_id, size_t node);
  Completion begin_ending(uint32_t job_id, Job &job);
  void run_timer(uint32_t job_id, Job &job);
  void stop_timer(uint32_t job_id, const Job &job);

  mutable std::mutex mutex_;
  std::map<uint32_t, Job> jobs_;
  std::set<std::pair<Clock::time_point, uint32_t>> timers_;
  uint32_t last_run_ = 0;
  const int wake_fd_; // eventfd; written when the earliest timer may have changed
};

} // namespace played

#endif
