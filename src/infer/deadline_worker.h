// One long-lived thread that runs one task at a time, and a caller who does not wait for it beyond a deadline: how a
// model that is slow, or never answers, is kept from stopping the planner. All members are called from one thread.
//
// A thread that was given up, or that the next run() finds late by more than ten times its patience, gets the lowest
// priority, so that it takes no time from slurmctld; it is not used for another task.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

namespace harmony {

class DeadlineWorker {
public:
  // Given up and still running: more than this and a bad model would eat the machine.
  static constexpr std::size_t max_given_up = 2;

  enum class Ended {
    in_time, // the task has ended
    late,    // it has not: it goes on, and nobody looks at what it does
    busy,    // an earlier one that was late still runs: this one was not begun, and nobody waited
  };

  DeadlineWorker() = default;
  // Waits for no task: one that still runs is left alone.
  ~DeadlineWorker();
  DeadlineWorker(const DeadlineWorker &) = delete;
  DeadlineWorker &operator=(const DeadlineWorker &) = delete;

  // Whatever the task touches has to be the task's own (held by shared_ptr): a late one may outlive everybody. It is
  // destroyed on its thread, before an end in time is told. What it throws is thrown here if it ended in time, and
  // dropped otherwise. The first call starts the thread; throws std::system_error if there can be none.
  Ended run(std::function<void()> task, std::chrono::milliseconds patience);

  // A task that was late still runs.
  bool busy() const;

  // Gives a busy thread up, so that the next run() has a fresh one. False, and nothing changed, if max_given_up threads
  // that were given up before still run. Without a busy thread there is nothing to do.
  bool replace();

  // How many threads that were given up still run.
  int given_up() const;

private:
  struct Desk; // where caller and thread meet; each holds it, so that neither needs the other to live

  static void work(const std::shared_ptr<Desk> &desk);
  static bool runs(const std::shared_ptr<Desk> &desk);
  void seat();
  void leave_alone();

  std::shared_ptr<Desk> desk_; // none: no thread yet
  std::thread thread_;
  std::vector<std::shared_ptr<Desk>> given_up_;
};

} // namespace harmony
