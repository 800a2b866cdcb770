// What hwloc knows of GPUs: which PCI devices are some, their names and memory, and their NVLinks.
#pragma once

#include "src/values/topology.h"

#include <hwloc.h>

#include <string>
#include <vector>

namespace harmony {

// NVIDIA's display and 3D controllers; of AMD's and Intel's only what is no graphics card (3D controllers, display
// controllers without a monitor, accelerators). On-board VGA of a server (ASPEED, Matrox) is none.
bool is_gpu(hwloc_obj_t pci_device);

// All but the domain. The model is the driver's name for it, else the PCI database's, else the PCI ids (10de-20b0).
Gpu describe_gpu(hwloc_topology_t topology, hwloc_obj_t pci_device);

// From hwloc's NVLinkBandwidth matrix, if there is one; given the PCI devices in the order of the GPUs.
//
// The matrix has MB/s in one direction; a link is 25,000 (NVLink 2 to 4) or 20,000 (NVLink 1), whichever divides all
// values; if neither does, the smallest value is taken for one link. Links into NVSwitches count between any two GPUs
// that have some, the smaller number of the two, which is what `nvidia-smi topo -m` calls NV#.
std::vector<Link> read_nvlinks(hwloc_topology_t topology, const std::vector<hwloc_obj_t> &gpus);

// 0000:3b:00.0
std::string bus_id(hwloc_obj_t pci_device);

} // namespace harmony
