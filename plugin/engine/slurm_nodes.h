// Reading slurmctld's node records: the only place that knows how they are laid out.
#pragma once

#include "src/publish/node_table.h"
#include "src/publish/topology_store.h"

#include <ctime>
#include <vector>
#include <sys/types.h>

namespace harmony {

struct ChangedNode {
  NodeFacts facts;
  std::uint64_t gres_signature = 0;
};

struct NodeChanges {
  bool looked = false;              // false: nothing changed since the last look, and the rest is empty
  std::vector<NodeHardware> nodes;  // all that there are, by their index, without topologies
  std::vector<ChangedNode> changed; // of which slurmctld knows something that the store does not
  struct Usage {
    std::string node, extra;
  };
  std::vector<Usage> usage; // nodes that have seen something of steps, with that part of their Extra
};

// Takes and releases slurmctld's configuration and node read locks, for a few hundred nodes at a time; costs next to
// nothing when no node changed since `last_look`, which is moved on.
NodeChanges changed_nodes(const TopologyStore &store, time_t &last_look);

// Whether slurm.conf's PrivateData lets this user see nodes.
bool may_see_nodes(uid_t user);

} // namespace harmony
