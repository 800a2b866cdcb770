// The cluster as the next component of a gang meets it: with what the components before it took, which are few nodes,
// so the cluster itself is never copied.
#pragma once

#include "src/plan/cluster.h"

#include <map>
#include <set>

namespace harmony {

class View {
public:
  // `empty` looks at the same nodes as if no job ran.
  explicit View(const Cluster &cluster, bool empty = false) : cluster_(cluster), empty_(empty) {}

  const Cluster &cluster() const { return cluster_; }
  bool empty() const { return empty_; }
  const NodeState &node(int index) const;
  const std::map<int, NodeState> &changed() const { return changed_; }

  void take(const Component &component, const Placement &placement);
  void give_back() { changed_.clear(); } // all that was taken

  // From now on the node, or every node, is counted exactly.
  void distrust(int node) { distrusted_.insert(node); }
  void distrust_all() { trusting_ = false; }
  bool trusting() const { return trusting_; }
  const std::set<int> &distrusted() const { return distrusted_; }

private:
  const Cluster &cluster_;
  bool empty_;
  bool trusting_ = true;
  mutable std::map<int, NodeState> changed_; // node() adds nodes that were emptied
  std::set<int> distrusted_;
};

// The node as it would be if no job ran on it.
NodeState emptied(const NodeState &node);

} // namespace harmony
