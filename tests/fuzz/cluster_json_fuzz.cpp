// Fuzzes the reading of a simulation's cluster: whatever comes in, it is refused with one printable line that names the
// file, or it is a cluster of free nodes with sound topologies.

// clang-format off: tests/fuzz/run reads these lines
// links: src/sim/input/read_cluster.cpp src/sim/input/sim_cluster.cpp src/sim/input/json_file.cpp
// links: src/sim/input/line_reader.cpp src/discover/profiles.cpp src/discover/hwloc_reader.cpp
// links: src/discover/hwloc_xml.cpp src/discover/hwloc_cpu.cpp src/discover/hwloc_gpu.cpp
// links: src/discover/hwloc_pci.cpp src/discover/hwloc_object_writer.cpp src/discover/hwloc_distances_writer.cpp
// links: src/publish/compact.cpp src/values/topology.cpp src/values/model_name.cpp
// clang-format on
#include "src/sim/input/sim_cluster.h"
#include "tests/fuzz/memory_file.h"

#include <cstdlib>
#include <set>
#include <stdexcept>

extern "C" int LLVMFuzzerTestOneInput(const unsigned char *data, std::size_t size) {
  using namespace harmony;
  const MemoryFile file(data, size);
  try {
    const SimCluster cluster = read_cluster(file.path());
    if (cluster.nodes.empty() || cluster.nodes.size() > most_sim_nodes) std::abort();
    if (cluster.nodes.size() != cluster.racks.size()) std::abort();
    std::set<std::string> names;
    for (const NodeState &node : cluster.nodes) {
      if (!names.insert(node.name).second || !node.usable) std::abort();
      if (node.gpu_models.size() != node.topology->gpus.size()) std::abort();
    }
    for (const NodeState *node : {&cluster.nodes.front(), &cluster.nodes.back()})
      if (!problem_with(*node->topology).empty()) std::abort();
  } catch (const std::runtime_error &problem) {
    if (!fit_for_people(problem.what(), file)) std::abort();
  }
  return 0;
}
