// Sockets and NUMA nodes, as hwloc sees them.
#pragma once

#include "src/discover/hwloc_handles.h"
#include "src/values/topology.h"

#include <vector>

namespace harmony {

struct Cpus {
  int sockets = 1;
  std::vector<NumaNode> numa;  // by first core, and so socket by socket
  std::vector<Bitmap> cpusets; // of each of them: the CPUs of its cores

  // The NUMA node that something below a normal (not an I/O) object is near to: the first one if there are several.
  int numa_near(hwloc_obj_t object) const;
};

Cpus read_cpus(hwloc_topology_t topology);

} // namespace harmony
