// The planner's working copy of the cluster: the nodes of a snapshot, as they will be when the gangs planned so far in
// this round have started.
#pragma once

#include "src/values/plan.h"
#include "src/values/snapshot.h"

#include <vector>

namespace harmony {

class Cluster {
public:
  explicit Cluster(const Snapshot &snapshot);

  const std::vector<NodeState> &nodes() const { return nodes_; }
  const NodeState &node(int index) const { return nodes_[static_cast<std::size_t>(index)]; }
  bool memory_counts() const { return memory_counts_; }
  std::time_t now() const { return now_; }

  // The job behind a tenant, running or planned in this round.
  const Running &job_of(const Tenant &tenant) const;

  // How many distributed jobs (on more than one node) have tasks on the node.
  int distributed_on(int node) const;

  // Takes cores, GPUs and memory for one placement, without a tenant: for gangs of several components, while they are
  // being placed.
  void take(const Component &component, const Placement &placement);

  // Takes everything for the gang and makes it a tenant of its nodes. Call it on a cluster that has not taken its
  // placements yet.
  void start(const Gang &gang, const Plan &plan);

private:
  std::vector<NodeState> nodes_;
  std::vector<Running> running_;
  std::vector<Running> planned_;
  bool memory_counts_ = true;
  std::time_t now_ = 0;
};

} // namespace harmony
