// The floor of the simulated cluster: who holds what, kept as the snapshot that the planner looks at. For one thread.
#pragma once

#include "src/sim/input/sim_cluster.h"
#include "src/values/plan.h"
#include "src/values/snapshot.h"

#include <cstdint>
#include <ctime>
#include <vector>

namespace harmony {

// The index of the job in the snapshot's running jobs; -1 if it does not run.
int running_index(const Snapshot &snapshot, std::uint32_t job);

class Floor {
public:
  explicit Floor(const SimCluster &cluster);

  // Its pending gangs and its time are the caller's to set.
  Snapshot &snapshot() { return snapshot_; }
  const Snapshot &snapshot() const { return snapshot_; }

  bool has(const Plan &plan) const; // all of it is free

  // The gang holds what its plan says until it ends. Throws std::logic_error if any of it is held already.
  void start(const Gang &gang, const Plan &plan, std::time_t ends);
  void end(std::uint32_t job);

  int gpus() const { return gpus_; }
  int gpus_allocated() const { return gpus_allocated_; }
  int gpus_stranded() const { return gpus_stranded_; } // free ones on nodes with jobs

private:
  struct Held {
    int node = 0;
    Bits cores, gpus;
    std::uint64_t memory_mb = 0;
    bool whole = false;
  };
  int stranded_on(const NodeState &node) const;
  NodeState &node(int index) { return snapshot_.nodes[static_cast<std::size_t>(index)]; }
  void take(const Component &component, const Placement &placement, int running);
  void give_back(const Held &held, int running);
  void rename(int from, int to);

  Snapshot snapshot_;
  std::vector<std::vector<Held>> held_; // by running job
  int gpus_ = 0, gpus_allocated_ = 0, gpus_stranded_ = 0;
};

} // namespace harmony
