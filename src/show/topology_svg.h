// A topology as a picture, drawn the way people know from lstopo.
#pragma once

#include "src/values/topology.h"

#include <string>

namespace harmony {

// Self-contained SVG 1.1: nested boxes machine, socket, NUMA node, host bridge, PCIe switch and the devices in them, a
// colour for each domain with devices, and the NVLinks below. GPUs stand in one row, so that no link crosses a text.
std::string topology_svg(const Topology &topology, const std::string &host);

} // namespace harmony
