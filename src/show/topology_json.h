// A topology as JSON, for programs.
#pragma once

#include "src/values/topology.h"

#include <string>

namespace harmony {

// One object with node, source, sockets, numa, domains, gpus, nics, disks, links and matrix (rows of reach_word()).
// Indices are positions in these arrays, cores are [first, last] ranges, what is not known is null.
std::string topology_json(const Topology &topology, const std::string &host);

} // namespace harmony
