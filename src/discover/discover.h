// Finding a topology: this machine's through hwloc and NVML, one from an hwloc export, or a built-in profile.
#pragma once

#include "src/values/topology.h"

#include <chrono>
#include <string>
#include <vector>

namespace harmony {

struct Discovery {
  Topology topology;
  std::string problem;            // empty on success
  std::vector<std::string> notes; // worth knowing, not in the way
};

// hwloc says what hangs where, NVML what the GPUs are and how they are linked; without NVML, hwloc alone. A driver that
// does not answer within `nvml_limit` counts as no NVML, or, if `nvml_must_answer`, as a problem.
Discovery discover_this_machine(std::chrono::seconds nvml_limit, bool nvml_must_answer);
Discovery discover_xml(const std::string &path);
Discovery discover_synthetic(const std::string &profile);

} // namespace harmony
