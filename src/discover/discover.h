// Finding a topology: this machine's through hwloc and NVML, one from an hwloc export, or a built-in profile.
#pragma once

#include "src/values/topology.h"

#include <string>
#include <vector>

namespace harmony {

struct Discovery {
  Topology topology;
  std::string problem;            // empty on success
  std::vector<std::string> notes; // worth knowing, not in the way
};

// hwloc says what hangs where, NVML what the GPUs are and how they are linked; without NVML, hwloc alone.
Discovery discover_this_machine();
Discovery discover_xml(const std::string &path);
Discovery discover_synthetic(const std::string &profile);

} // namespace harmony
