// Domains and what hangs below them: GPUs, NICs, disks, from hwloc's I/O tree.
#pragma once

#include "src/discover/hwloc_cpu.h"
#include "src/values/topology.h"

namespace harmony {

// Fills domains, gpus, nics, disks and links.
//
// A host bridge with a GPU, NIC or disk below it is a domain. A PCI bridge is one (a switch) if what is of interest
// below it is in at least two places: below two of its ports, or in two devices on its bus; functions of one device
// are in one place. So a root port above one GPU is no switch, and of a chain of bridges the lowest that branches is
// one.
void read_pci(hwloc_topology_t topology, const Cpus &cpus, Topology &filled);

} // namespace harmony
