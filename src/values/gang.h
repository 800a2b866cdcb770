// A gang: all tasks of a training job, started together or not at all, and what its owner and the admin demand of the
// place where it runs. A plain value, copied out of slurmctld (or made by the simulator) and never changed.
#pragma once

#include "src/values/bits.h"

#include <cstdint>
#include <ctime>
#include <string>
#include <tuple>
#include <vector>

namespace harmony {

constexpr const char *unknown_type = "unknown";

// How a job asks for GPUs. One of the counts is above 0, or none.
struct GpuDemand {
  int per_job = 0;   // --gpus: divided evenly among the workers
  int per_task = 0;  // --gpus-per-task: workers and PS alike
  int per_node = 0;  // --gpus-per-node, --gres=gpu:
  std::string model; // the type in Slurm's words (gpu:MODEL:n); empty: any
};

// What one job record of Slurm asks for: the whole of a one-job gang, or one component of a hetjob.
struct Component {
  std::uint32_t job = 0; // its id
  int workers = 0;
  int ps = 0;
  int cpus_per_task = 1;
  GpuDemand gpus;
  std::uint64_t memory_per_node_mb = 0; // at most one of the three is above 0
  std::uint64_t memory_per_cpu_mb = 0;
  std::uint64_t memory_per_gpu_mb = 0;
  int min_nodes = 1;
  int max_nodes = 0;            // 0: any number
  int tasks_per_node = 0;       // at most; 0: any number
  bool whole_nodes = false;     // --exclusive: all cores and GPUs of its nodes
  bool one_task_a_core = false; // hyper-threads of a core are not shared between tasks
  Bits eligible;                // nodes it may use at all: partition, constraints, --exclude, reservations
  Bits required;                // nodes it must use: --nodelist

  int tasks() const { return workers + ps; }
};

// Whether the two ask for the same, whatever jobs they are of.
inline bool asks_for_the_same(const Component &one, const Component &other) {
  const auto demand = [](const Component &c) {
    return std::tie(c.workers, c.ps, c.cpus_per_task, c.gpus.per_job, c.gpus.per_task, c.gpus.per_node, c.gpus.model,
                    c.memory_per_node_mb, c.memory_per_cpu_mb, c.memory_per_gpu_mb, c.min_nodes, c.max_nodes,
                    c.tasks_per_node, c.whole_nodes, c.one_task_a_core, c.eligible, c.required);
  };
  return demand(one) == demand(other);
}

struct Gang {
  std::uint32_t job = 0; // the id people know it by; of a hetjob, that of its first component
  std::uint32_t user = 0;
  std::string type = unknown_type;
  std::uint32_t epochs = 0;   // 0: not declared
  std::uint32_t model_kb = 0; // 0: not declared
  std::uint64_t priority = 0;
  std::time_t submitted = 0;
  std::time_t eligible_since = 0; // from when on it could have started
  std::time_t held_since = 0;     // when a policy first let it wait though it could have started; 0: never
  std::uint32_t time_limit_min = 0;
  bool in_a_hurry = false;           // it would miss its time if it waited: a deadline, a reservation to come
  int copies = 1;                    // pending tasks of a job array: so many gangs alike
  std::vector<Component> components; // one, or those of a hetjob

  int workers() const;
  int ps() const;
  int gpus() const; // all of them; of --gpus-per-node those of min_nodes nodes
};

inline int Gang::workers() const {
  int total = 0;
  for (const Component &each : components) total += each.workers;
  return total;
}
inline int Gang::ps() const {
  int total = 0;
  for (const Component &each : components) total += each.ps;
  return total;
}
inline int Gang::gpus() const {
  int total = 0;
  for (const Component &each : components)
    total += each.gpus.per_job + each.gpus.per_task * each.tasks() + each.gpus.per_node * each.min_nodes;
  return total;
}

} // namespace harmony
