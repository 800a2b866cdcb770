// What a running job holds on each of its nodes, worked out from the copy of its record. Needs no lock of slurmctld.
#pragma once

#include "plugin/engine/raw_jobs.h"
#include "src/publish/node_table.h"

#include <cstdint>
#include <vector>

namespace harmony {

struct HeldOn {
  int node = 0; // slurmctld's index
  int workers = 0, ps = 0;
  Bits cores;
  Bits gpus;
  std::uint64_t memory_mb = 0;
};

std::vector<HeldOn> held_on_nodes(const RunningCopy &job, const NodeTable::Nodes &nodes);

} // namespace harmony
