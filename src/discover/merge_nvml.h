// Joins what NVML knows to what hwloc found.
#pragma once

#include "src/discover/nvml.h"
#include "src/values/topology.h"

#include <string>
#include <vector>

namespace harmony {

// GPUs are matched by PCI bus id; NVML's word on them, and on the links among them, replaces what was there. A lost GPU
// is marked and keeps its place. GPUs are then numbered by their device files, if NVML knows them all. The report's own
// problem and notes go into `notes` too, so that the caller prints one list; a machine where hwloc sees no GPU has no
// need of NVML, and its problem is not mentioned.
void merge_nvml(const NvmlReport &report, Topology &topology, std::vector<std::string> &notes);

} // namespace harmony
