// Where a component has room, in numbers: cheap enough to be asked about every node of a large cluster for every gang.
// On a large cluster most nodes are alike, so nodes are put into classes and everything that chooses works on classes.
// The numbers may be too high where a node is odd (lost GPUs, say); arrange() has the last word, and a node that it
// refuses is counted exactly from then on.
#pragma once

#include "src/plan/view.h"
#include "src/values/gang.h"
#include "src/values/plan.h"

#include <cstdint>
#include <vector>

namespace harmony {

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
  double in_use = 0;        // the part of its GPUs, then of its cores: 1024 of the one go before 1 of the other
  bool distributed = false; // another distributed job is there
  bool beside = false;      // the gang has tasks there already
  bool required = false;
  int state = 0; // what else its nodes have in common, as whoever asked tells them apart

  int first = -1; // its members, ascending: first, then Rooms::next
  int last = -1;
  int count = 0;

  int shape = -1;      // index into Rooms::shapes
  int next_alike = -1; // the next class of that shape
};

enum class Prefer {
  best_fit, // the nodes that have least left afterwards
  emptiest, // the nodes with the smallest part in use
};

// Classes that are alike in how many tasks their nodes take; far fewer than classes on a busy cluster.
struct Shape {
  int workers = 0; // as in NodeClass
  int ps = 0;
  int tasks = 0;
  int threads_per_core = 1;
  bool distributed = false;
  bool beside = false;
  bool required = false;

  int first = -1; // its classes, ascending: first, then NodeClass::next_alike
  int last = -1;
  int nodes = 0;
  int tightest = -1; // the class that goes before the others, by what is preferred
  int emptiest = -1;

  int preferred(Prefer by) const { return by == Prefer::emptiest ? emptiest : tightest; }
};

// Which of two classes of a shape goes first, each with the first node that it has left.
inline bool goes_before(Prefer by, const NodeClass &one, int its_node, const NodeClass &other, int others_node) {
  if (by == Prefer::emptiest && one.in_use != other.in_use) return one.in_use < other.in_use;
  if (one.weight != other.weight) return one.weight < other.weight;
  if (by == Prefer::best_fit && one.free_gpus != other.free_gpus) return one.free_gpus < other.free_gpus;
  if (by == Prefer::best_fit && one.free_cores != other.free_cores) return one.free_cores < other.free_cores;
  return its_node < others_node;
}

struct Rooms {
  std::vector<NodeClass> classes; // ascending by their first nodes
  std::vector<int> next;          // by node, -1 at the end
  std::vector<int> class_of;      // by node, -1: none
  std::vector<Shape> shapes;
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
// is looked up only if asked for. `states`: by node, nodes of different states are not alike; nullptr: all 0.
Rooms find_rooms(const View &view, const Component &component, const std::vector<int> &beside, bool know_distributed,
                 const std::vector<int> *states = nullptr);

// The same without those nodes (ascending).
Rooms without(const Rooms &rooms, const std::vector<int> &nodes);

} // namespace harmony
