// Which GPUs of a node its tasks get: each task's below one PCIe switch where possible, all of them near each other,
// and the choice that leaves the largest groups of free GPUs whole.
#pragma once

#include "src/values/bits.h"
#include "src/values/snapshot.h"

#include <cstddef>
#include <vector>

namespace harmony {

// The node's topology if it knows every GPU that Slurm counts, else nullptr: one that knows fewer may number them
// otherwise than Slurm does.
inline const Topology *gpu_topology(const NodeState &node) {
  const Topology *topology = node.topology.get();
  return topology && topology->gpus.size() >= static_cast<std::size_t>(node.free_gpus.size()) ? topology : nullptr;
}

// Whether the driver cannot reach the GPU.
inline bool is_lost(const NodeState &node, int gpu) {
  return node.topology && static_cast<std::size_t>(gpu) < node.topology->gpus.size() &&
         node.topology->gpus[static_cast<std::size_t>(gpu)].lost;
}

// The GPUs of each of so many tasks, ascending, out of the suitable ones; these must be enough. No node has more than
// max_gpus. `free`: the GPUs that count as not in use; by default those that the node has free.
std::vector<std::vector<int>> choose_gpus(const NodeState &node, const Bits &suitable, int tasks, int gpus_per_task);
std::vector<std::vector<int>> choose_gpus(const NodeState &node, const Bits &free, const Bits &suitable, int tasks,
                                          int gpus_per_task);

} // namespace harmony
