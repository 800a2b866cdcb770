// Where a component has room, in numbers: cheap enough to be asked about every node of a large cluster for every gang.
// On a large cluster most nodes are alike, so nodes are put into classes and everything that chooses works on classes.
// The numbers may be too high where a node is odd (lost GPUs, say); arrange() has the last word, and a node that it
// refuses is counted exactly from then on.
#pragma once

#include "src/plan/cluster.h"
#include "src/values/gang.h"
#include "src/values/plan.h"

#include <cstdint>
#include <map>
#include <set>
#include <vector>

namespace harmony {

// The cluster as the next component of a gang meets it: with what the components before it took, which are few nodes,
// so the cluster itself is never copied. `empty` looks at the same nodes as if no job ran.
class View {
public:
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

// Nodes alike.
struct NodeClass {
  int workers = 0; // the most of each that one node takes, and of both together: any mix within the three fits
  int ps = 0;
  int tasks = 0;
  int gpus = 0; // it has, and of those free ones that the component may use
  int free_gpus = 0;
  int cores = 0;
  int free_cores = 0;
  std::uint64_t memory_mb = 0;
  int free_memory = 0; // in 64ths of the node's: nodes need not agree to the MB to be alike
  int threads_per_core = 1;
  int weight = 1;
  bool distributed = false; // another distributed job is there
  bool beside = false;      // the gang has tasks there already
  bool required = false;

  int first = -1; // its members, ascending: first, then Rooms::next
  int last = -1;
  int count = 0;
};

struct Rooms {
  std::vector<NodeClass> classes;
  std::vector<int> next; // by node, -1 at the end
  int gpus_per_worker = 0;
  int gpus_per_ps = 0;
  int cpus_per_task = 1;
  int gpus_per_node = 0;

  int required_missing = -1; // a required node without room
  int usable = 0;            // nodes it may use that are up
  int most_free_gpus = 0;    // of those, on one node
  int most_free_cores = 0;
  int largest_gpus = 0; // that one of them has, busy or not
  int largest_cpus = 0;

  // GPUs that so many tasks take on a node.
  int gpus_for(int workers, int ps) const {
    return gpus_per_node ? gpus_per_node : workers * gpus_per_worker + ps * gpus_per_ps;
  }
};

// `beside`: nodes of the gang's components before this one, ascending. Whether another distributed job is on a node
// is looked up only if asked for.
Rooms find_rooms(const View &view, const Component &component, const std::vector<int> &beside, bool know_distributed);

// The same without those nodes (ascending).
Rooms without(const Rooms &rooms, const std::vector<int> &nodes);

} // namespace harmony
