#include "src/discover/discover.h"

#include "src/discover/hwloc_reader.h"
#include "src/discover/merge_nvml.h"
#include "src/discover/nvml.h"
#include "src/discover/profiles.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace harmony {

Discovery discover_this_machine(std::chrono::seconds nvml_limit, bool nvml_must_answer) {
  Discovery found;
  HwlocResult hwloc = read_this_machine();
  found.topology = std::move(hwloc.topology);
  found.problem = hwloc.problem;
  if (!found.problem.empty()) return found;
  const NvmlReport nvml = read_nvml(nvml_limit);
  if (nvml.timed_out && nvml_must_answer)
    found.problem = nvml.problem;
  else
    merge_nvml(nvml, found.topology, found.notes);
  return found;
}

Discovery discover_xml(const std::string &path) {
  HwlocResult hwloc = read_xml_file(path);
  return {std::move(hwloc.topology), hwloc.problem, {}};
}

Discovery discover_synthetic(const std::string &profile) {
  Discovery found;
  if (std::optional<Topology> topology = synthetic_topology(profile))
    found.topology = std::move(*topology);
  else
    found.problem = fmt::format("no profile '{}'; there are: {}", profile, fmt::join(synthetic_names(), ", "));
  return found;
}

} // namespace harmony
