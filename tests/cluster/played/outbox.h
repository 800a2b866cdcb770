// Everything the played nodes tell slurmctld: registrations, completions, epilogs, prologs.
//
// put() may be called from any thread and never blocks on the network. A few threads of our own take the letters
// out, send them, and put a letter that could not be delivered back for a moment later, so that nothing is lost
// while slurmctld restarts.
#ifndef PLAYED_NODES_OUTBOX_H
#define PLAYED_NODES_OUTBOX_H

#include <atomic>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "tests/cluster/played/node_config.h"
#include "tests/cluster/played/jobs.h"

namespace played {

struct Letter {
  enum class Kind { Register, Boot, CompleteBatch, Epilog, Prolog, EndProgram };
  Kind kind = Kind::Register; // Boot is a registration with an uptime that begins again
  size_t node = 0;
  uint32_t job_id = 0;   // Epilog, Prolog
  Completion completion; // CompleteBatch
};

class Outbox {
public:
  // nodes and jobs must outlive the outbox.
  Outbox(const std::vector<Node> &nodes, JobTable &jobs);
  ~Outbox();
  Outbox(const Outbox &) = delete;
  Outbox &operator=(const Outbox &) = delete;

  void start();
  void stop(); // waits for the letters in hand, drops the others
  void put(const Letter &letter, Clock::duration delay = Clock::duration::zero());

  size_t registered() const { return registered_; } // nodes that have registered at least once

private:
  struct Address; // keeps Slurm's headers out of this one

  std::optional<Letter> next();
  void work();
  bool deliver(const Letter &letter);
  bool send_registration(size_t node);
  bool send_completion(const Completion &completion);
  bool send_epilog(size_t node, uint32_t job_id);
  bool send_prolog(size_t node, uint32_t job_id);

  const std::vector<Node> &nodes_;
  JobTable &jobs_;
  std::unique_ptr<Address> controller_;
  std::vector<std::atomic<int64_t>> boot_time_;
  std::vector<std::atomic<bool>> has_registered_;
  std::atomic<size_t> registered_{0};
  std::atomic<bool> outage_{false}; // the last letter could not be delivered
  const int64_t start_time_;

  std::mutex mutex_; // of the three below
  std::condition_variable changed_;
  std::multimap<Clock::time_point, Letter> letters_;
  bool stopping_ = false;

  std::vector<std::thread> threads_;
};

} // namespace played

#endif
