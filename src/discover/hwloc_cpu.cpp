#include "src/discover/hwloc_cpu.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <map>

namespace harmony {
namespace {

struct Core {
  hwloc_obj_t object = nullptr;
  int socket = 0;
  bool taken = false;
};

unsigned first_cpu(const Core &core) { return static_cast<unsigned>(hwloc_bitmap_first(core.object->cpuset)); }

// Some virtual machines have CPUs but no cores: then a CPU is a core, as it is for Slurm.
std::vector<Core> list_cores(hwloc_topology_t topology) {
  const bool has_cores = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_CORE) > 0;
  const hwloc_obj_type_t type = has_cores ? HWLOC_OBJ_CORE : HWLOC_OBJ_PU;
  std::vector<Core> cores;
  std::map<hwloc_obj_t, int> sockets; // packages without cores do not count
  for (hwloc_obj_t object = nullptr; (object = hwloc_get_next_obj_by_type(topology, type, object));) {
    const hwloc_obj_t package = hwloc_get_ancestor_obj_by_type(topology, HWLOC_OBJ_PACKAGE, object);
    const int socket = sockets.emplace(package, static_cast<int>(sockets.size())).first->second;
    cores.push_back({object, socket, false});
  }
  return cores;
}

std::uint32_t megabytes(std::uint64_t bytes) {
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(bytes >> 20, std::numeric_limits<std::uint32_t>::max()));
}

bool gpu_memory(hwloc_obj_t node) { return node->subtype && !std::strcmp(node->subtype, "GPUMemory"); }

// Several memories may be near to the same cores: DRAM and HBM, or DRAM and a GPU's memory. The cores go to the one
// that is nearest to fewest cores, and among equals to the one that the kernel counts first, which is DRAM.
std::vector<hwloc_obj_t> nodes_in_claiming_order(hwloc_topology_t topology) {
  std::vector<hwloc_obj_t> nodes;
  for (hwloc_obj_t node = nullptr; (node = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_NUMANODE, node));)
    if (!gpu_memory(node)) nodes.push_back(node);
  std::sort(nodes.begin(), nodes.end(), [](hwloc_obj_t one, hwloc_obj_t other) {
    const int weight = hwloc_bitmap_weight(one->cpuset), other_weight = hwloc_bitmap_weight(other->cpuset);
    return weight != other_weight ? weight < other_weight : one->os_index < other->os_index;
  });
  return nodes;
}

struct Claim {
  NumaNode numa;
  Bitmap cpuset = new_bitmap();
};

void take(Core &core, int index, Claim &claim) {
  std::vector<CoreRange> &ranges = claim.numa.cores;
  core.taken = true;
  if (ranges.empty()) claim.numa.socket = core.socket;
  if (!ranges.empty() && ranges.back().last == index - 1)
    ranges.back().last = index;
  else
    ranges.push_back({index, index});
  hwloc_bitmap_or(claim.cpuset.get(), claim.cpuset.get(), core.object->cpuset);
}

// Cores near to no memory (an empty memory slot, say) still are somewhere: one node without memory a socket.
void take_rest(std::vector<Core> &cores, int sockets, std::vector<Claim> &claims) {
  for (int socket = 0; socket < sockets; ++socket) {
    Claim claim;
    for (std::size_t i = 0; i < cores.size(); ++i)
      if (!cores[i].taken && cores[i].socket == socket) take(cores[i], static_cast<int>(i), claim);
    if (!claim.numa.cores.empty()) claims.push_back(std::move(claim));
  }
}

} // namespace

int Cpus::numa_near(hwloc_obj_t object) const {
  for (; object; object = object->parent) { // an object without CPUs is as near as what it is in
    if (!object->cpuset) continue;
    for (std::size_t i = 0; i < cpusets.size(); ++i)
      if (hwloc_bitmap_intersects(cpusets[i].get(), object->cpuset)) return static_cast<int>(i);
  }
  return 0;
}

Cpus read_cpus(hwloc_topology_t topology) {
  std::vector<Core> cores = list_cores(topology);
  Cpus cpus;
  for (const Core &core : cores) cpus.sockets = std::max(cpus.sockets, core.socket + 1);

  std::vector<Claim> claims;
  for (const hwloc_obj_t node : nodes_in_claiming_order(topology)) {
    Claim claim;
    claim.numa.memory_mb = megabytes(node->attr->numanode.local_memory);
    for (std::size_t i = 0; i < cores.size(); ++i)
      if (!cores[i].taken && hwloc_bitmap_isset(node->cpuset, first_cpu(cores[i])))
        take(cores[i], static_cast<int>(i), claim);
    if (!claim.numa.cores.empty()) claims.push_back(std::move(claim));
  }
  take_rest(cores, cpus.sockets, claims);
  std::sort(claims.begin(), claims.end(), [](const Claim &one, const Claim &other) {
    return one.numa.cores.front().first < other.numa.cores.front().first;
  });
  for (Claim &claim : claims) {
    cpus.numa.push_back(std::move(claim.numa));
    cpus.cpusets.push_back(std::move(claim.cpuset));
  }
  return cpus;
}

} // namespace harmony
