// Reading slurmctld's node records: the only place that knows how they are laid out.
#pragma once

#include "src/publish/topology_store.h"

#include <ctime>
#include <vector>
#include <sys/types.h>

namespace harmony {

struct ChangedNode {
  NodeFacts facts;
  std::uint64_t gres_signature = 0;
};

// The nodes of which slurmctld knows something that `store` does not. Takes and releases slurmctld's node read lock;
// costs next to nothing when no node changed since `last_look`, which is moved on.
std::vector<ChangedNode> changed_nodes(const TopologyStore &store, time_t &last_look);

// Whether slurm.conf's PrivateData lets this user see nodes.
bool may_see_nodes(uid_t user);

} // namespace harmony
