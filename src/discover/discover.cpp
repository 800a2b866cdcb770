#include "src/discover/discover.h"

#include "src/discover/hwloc_reader.h"
#include "src/discover/merge_nvml.h"
#include "src/discover/nvml.h"
#include "src/discover/profiles.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <chrono>

namespace harmony {
namespace {

constexpr std::chrono::seconds nvml_limit(10);

} // namespace

Discovery discover_this_machine() {
  Discovery found;
  HwlocResult hwloc = read_this_machine();
  found.topology = std::move(hwloc.topology);
  found.problem = hwloc.problem;
  if (!found.problem.empty()) return found;
  const NvmlReport nvml = read_nvml(nvml_limit);
  if (nvml.present)
    merge_nvml(nvml, found.topology, found.notes);
  else if (!found.topology.gpus.empty())
    found.notes.push_back(fmt::format("without NVML ({}): GPUs are the PCI devices that hwloc sees", nvml.problem));
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
