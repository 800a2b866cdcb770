// What was decided for each job and what became of it, for `harmony explain`. In memory, and bounded: the jobs that
// were not touched for longest are forgotten first.
//
// Any thread may call it. Its lock is a leaf: nothing else is called while it is held, so it may be used below any of
// slurmctld's locks.
#pragma once

#include "src/values/plan.h"

#include <cstddef>
#include <cstdint>
#include <ctime>
#include <list>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace harmony {

enum class Outcome {
  pending, // not started yet
  used,    // started as planned
  stock,   // stock chose the place: the text says why, or that this is shadow mode
  stale,   // the plan was dropped; planning anew
};
constexpr const char *outcome_name(Outcome outcome) {
  switch (outcome) {
  case Outcome::used: return "used";
  case Outcome::stock: return "stock";
  case Outcome::stale: return "stale";
  case Outcome::pending: break;
  }
  return "pending";
}

// What Slurm really allocated on one node.
struct ActualNode {
  std::string node;
  std::vector<int> gpus;
  int cpus = 0;
  int tasks = 0; // 0: not known
};

struct DecisionRecord {
  Decision decision; // the latest
  int decisions = 0; // how many rounds decided on the job
  std::time_t first_decided = 0;
  Outcome outcome = Outcome::pending;
  std::time_t outcome_at = 0;
  std::string outcome_text;
  std::vector<ActualNode> actual; // once it has started
  bool same_as_plan = false;
};

class DecisionLog {
public:
  // How many jobs are kept; the oldest beyond it are dropped at once.
  void set_limit(int jobs);

  // A job that waits keeps when it was first decided on and how often. The copies of a job array come with one decision
  // each in the same round: they count as one, and the first that was placed is kept, as it starts next.
  // A job that had started is seen as requeued and begins anew, but not by a decision that is no younger than its
  // start: that one was made from a snapshot in which it still waited.
  void decided(Decision decision);

  // What became of the latest decision. False if nothing is known of the job. Once it has started, `pending` and
  // `stale` come too late and are ignored.
  bool outcome(std::uint32_t job, Outcome outcome, std::time_t at, std::string text);

  // The job has started. `text` says why stock chose the place, and is empty if the plan was enforced; a reason that
  // outcome() gave before stays if `text` is empty. False if nothing is known of the job.
  bool started(std::uint32_t job, std::time_t at, std::vector<ActualNode> actual, std::string text);

  // A job array's task gets an id of its own when it starts: what is known of the array is known of the task then.
  // `used` is the plan of just this copy, if it is not the one that the log has. False if nothing is known of `from`.
  bool copy_as(std::uint32_t from, std::uint32_t to, const Plan *used = nullptr);

  std::optional<DecisionRecord> find(std::uint32_t job) const;
  std::size_t size() const;

private:
  using Records = std::list<DecisionRecord>;

  DecisionRecord *touched(std::uint32_t job);
  DecisionRecord &touched_or_new(std::uint32_t job);
  void drop_oldest();

  mutable std::mutex mutex_;
  std::size_t limit_ = 10000;
  Records records_; // the one touched last at the end
  std::unordered_map<std::uint32_t, Records::iterator> by_job_;
};

} // namespace harmony
