// What slurmctld knows of one node that bears on its topology: a copy, made under slurmctld's lock and read without it.
#pragma once

#include "src/values/topology.h"

#include <string>
#include <vector>

namespace harmony {

// GPUs as gres.conf described them to Slurm.
struct GresGpu {
  std::vector<CoreRange> cores; // empty: gres.conf did not say
  std::string type;
};

struct NodeFacts {
  std::string name;
  std::string published; // the topology word of its Extra field, untrusted; empty if there is none
  int sockets = 1;
  int cores_per_socket = 1;
  std::uint32_t memory_mb = 0;
  std::vector<GresGpu> gpus;
  std::vector<std::vector<int>> links; // a row a GPU; empty: gres.conf did not say
};

} // namespace harmony
