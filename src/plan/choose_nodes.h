// Which nodes the tasks of one component go to, in numbers.
#pragma once

#include "src/plan/rooms.h"

#include <functional>
#include <optional>
#include <vector>

namespace harmony {

struct Share {
  int node = 0;
  int workers = 0;
  int ps = 0;
  std::vector<int> workers_in = {}; // by domain of the node: so many of the workers go there; empty: anywhere
};
using Shares = std::vector<Share>; // ascending by node

struct Choice {
  Prefer prefer = Prefer::best_fit;
  bool avoid_distributed = false; // no node with another distributed job
  bool ps_even = false;           // PS evenly on the nodes, instead of filling one after another
  bool ps_apart = false;          // PS on nodes without workers
  std::vector<int> not_on;        // not on these nodes, ascending
};

// The fewest nodes that hold the component. Among sets of the same size nodes where the gang is already, then lower
// weights, then what is preferred.
std::optional<Shares> fewest_nodes(const Rooms &rooms, const Component &component, const Choice &choice);

// How good a node is for one more task of the role, when it has so many of the component's already. Higher is better.
// The same question has the same answer until all tasks are placed.
using Score = std::function<double(const NodeClass &node, int workers, int ps, bool for_ps)>;

// Task by task, workers first, each where the score is highest; among equals the lower weight, then the first node.
// At most `most_nodes` nodes (0: as the component says).
std::optional<Shares> in_turn(const Rooms &rooms, const Component &component, int most_nodes, const Score &score);

} // namespace harmony
