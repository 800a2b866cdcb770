// Machines that exist in code only, by name: for `harmony topology --synthetic`, the tests and the simulator. Those
// that the test cluster also has (tests/cluster/topologies) agree with it in cores, GPUs and affinity.
#pragma once

#include "src/values/topology.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace harmony {

std::optional<Topology> synthetic_topology(std::string_view profile);

// Every profile there is, in alphabetical order.
std::vector<std::string> synthetic_names();

} // namespace harmony
