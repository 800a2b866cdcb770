// Putting a topology into the node's Extra field.
#pragma once

#include "src/values/topology.h"

#include <string>

namespace harmony {

struct Publication {
  std::string problem;  // empty on success
  bool changed = false; // false: the field said the same already
};

// Keeps whatever else the field holds. While slurmctld does not answer it is tried again, for `wait_seconds` at most.
Publication publish_topology(const std::string &node, const Topology &topology, int wait_seconds);

} // namespace harmony
