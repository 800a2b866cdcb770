// The planner's working copy of the cluster: the nodes of a snapshot, as they will be when the gangs planned so far in
// this round have started.
#pragma once

#include "src/plan/node_kinds.h"
#include "src/values/plan.h"
#include "src/values/snapshot.h"

#include <cstdint>
#include <deque>
#include <vector>

namespace harmony {

class Cluster {
public:
  // The snapshot must outlive it: nodes are copied when they change, since most never do.
  explicit Cluster(const Snapshot &snapshot);
  explicit Cluster(Snapshot &&) = delete;
  Cluster(const Cluster &) = delete;
  Cluster &operator=(const Cluster &) = delete;

  int size() const { return static_cast<int>(nodes_.size()); }
  const NodeState &node(int index) const { return *nodes_[static_cast<std::size_t>(index)]; }
  bool memory_counts() const { return memory_counts_; }
  std::time_t now() const { return now_; }

  // The job behind a tenant, running or planned in this round.
  const Running &job_of(const Tenant &tenant) const;

  // How many jobs run or are planned, and when the first of them ends by its time limit; 0 if there is none.
  int jobs() const { return static_cast<int>(running_.size() + planned_.size()); }
  std::time_t next_end() const { return next_end_; }

  // How many distributed jobs (on more than one node) have tasks on the node.
  int distributed_on(int node) const { return distributed_.at(static_cast<std::size_t>(node)); }

  // The nodes in numbers.
  const NodeKinds &kinds() const { return kinds_; }

  // The nodes that take() and start() changed since it was made, in order and with repeats, so that whoever keeps
  // something by node only has to remember how far it has read.
  const std::vector<int> &changed_nodes() const { return changed_nodes_; }
  std::uint64_t changes() const { return changed_nodes_.size(); }

  // Takes cores, GPUs and memory for one placement, without a tenant: for gangs of several components, while they are
  // being placed.
  void take(const Component &component, const Placement &placement);

  // Takes everything for the gang and makes it a tenant of its nodes. Call it on a cluster that has not taken its
  // placements yet.
  void start(const Gang &gang, const Plan &plan);

private:
  int count_distributed(const NodeState &node) const;
  void ends(const Running &job);
  void has_changed(int node);

  NodeState &own(int node);

  std::vector<const NodeState *> nodes_; // the snapshot's, or ours
  std::deque<NodeState> changed_;        // ours, which stay where they are
  std::vector<int> ours_;                // by node: which of ours it is; -1: the snapshot's
  const std::vector<Running> &running_;
  std::vector<Running> planned_;
  std::vector<int> distributed_; // by node
  NodeKinds kinds_;
  std::vector<int> changed_nodes_;
  bool memory_counts_ = true;
  std::time_t now_ = 0;
  std::time_t next_end_ = 0;
};

// What Cluster::take does to the node.
void take_from(NodeState &node, const Component &component, const Placement &placement, bool memory_counts);

} // namespace harmony
