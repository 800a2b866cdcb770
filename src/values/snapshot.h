// What a planning round looks at: the nodes, who runs where, and the gangs that wait, all of one moment. Made once,
// under slurmctld's read locks or by the simulator, and never changed; the planner works on a copy of the nodes.
#pragma once

#include "src/values/bits.h"
#include "src/values/gang.h"
#include "src/values/topology.h"

#include <cstdint>
#include <ctime>
#include <memory>
#include <string>
#include <vector>

namespace harmony {

// A running job on one node.
struct Tenant {
  int running = 0; // index into Snapshot::running, or -1 - i for the i-th gang planned in this round
  int workers = 0;
  int ps = 0;
  int cores = 0;
  Bits gpus;
};

struct NodeState {
  std::string name; // empty: no such node any more
  std::shared_ptr<const Topology> topology;
  bool usable = false;      // up, answering, not completing, not drained: a job could start here now
  bool whole_taken = false; // a job with --exclusive has it
  int threads_per_core = 1;
  Bits free_cores; // in Slurm's numbering, within the node; specialised cores are not free
  Bits free_gpus;
  std::vector<std::string> gpu_models; // as gres.conf names them, one a GPU; empty: no names
  std::uint64_t memory_mb = 0;
  std::uint64_t free_memory_mb = 0;
  int weight = 1; // slurm.conf's
  std::vector<Tenant> tenants;
};

// A job that runs: enough to know what it is as a neighbour.
struct Running {
  std::uint32_t job = 0;
  std::uint32_t user = 0;
  std::string type = unknown_type;
  bool managed = false;
  int nodes = 0;
  int workers = 0;
  int ps = 0;
  std::uint32_t model_kb = 0;
  std::time_t started = 0;
  std::time_t ends = 0; // by its time limit

  bool distributed() const { return nodes > 1; }
};

// A pending managed job that is not planned, and why ("--contiguous").
struct LeftToStock {
  std::uint32_t job = 0;
  std::uint32_t user = 0;
  std::string type = unknown_type;
  std::string reason;
  std::vector<std::uint32_t> components; // of a hetjob: its job records
};

struct Snapshot {
  std::time_t taken = 0;
  std::uint64_t epoch = 0;      // counts everything that gave resources back, until this moment
  bool memory_counts = true;    // whether Slurm allocates memory (CR_*_Memory)
  std::vector<NodeState> nodes; // by slurmctld's node index
  std::vector<Running> running;
  std::vector<Gang> pending; // in Slurm's priority order
  std::vector<LeftToStock> left;
};

} // namespace harmony
