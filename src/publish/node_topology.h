// The topology that placement uses for a node, from the best source there is: what the node published, else what
// gres.conf told Slurm, else one domain for the whole node.
#pragma once

#include "src/publish/node_facts.h"

#include <string>
#include <vector>

namespace harmony {

struct NodeTopology {
  Topology topology;
  std::string problem;             // with what the node published, if anything; names the node and the position
  std::vector<std::string> levels; // each source in turn, best first, and what became of it
  std::vector<std::string> gres_types; // of each GPU as gres.conf has it, which is how jobs ask for them
};

NodeTopology topology_of(const NodeFacts &facts);

} // namespace harmony
