// The pending jobs in the order of the queue, kept in the snapshot that the planner looks at. For one thread.
#pragma once

#include "src/sim/simulate.h"
#include "src/values/snapshot.h"

#include <cstddef>
#include <tuple>
#include <vector>

namespace harmony {

class Queue {
public:
  // `pending` is the snapshot's, and is the queue's alone to change.
  Queue(std::vector<Gang> &pending, QueueOrder order) : pending_(pending), order_(order) {}

  void add(std::size_t job, const SimJob &description, double best_s, Gang gang);

  std::size_t size() const { return jobs_.size(); }
  std::size_t job(std::size_t at) const { return jobs_[at].job; } // index into the workload
  const Gang &gang(std::size_t at) const { return pending_[at]; }

  // A policy lets it wait.
  void hold(std::size_t at, std::time_t now) {
    if (pending_[at].held_since == 0) pending_[at].held_since = now;
  }

  // Without those that started.
  void remove(const std::vector<bool> &started);

private:
  struct Place {
    double rank = 0; // lowest first
    double submit_s = 0;
    std::size_t job = 0;
    bool operator<(const Place &other) const {
      return std::tie(rank, submit_s, job) < std::tie(other.rank, other.submit_s, other.job);
    }
  };
  std::vector<Gang> &pending_;
  QueueOrder order_;
  std::vector<Place> jobs_; // as pending_
};

} // namespace harmony
