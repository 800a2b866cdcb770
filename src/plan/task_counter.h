// How many tasks of a component a node takes, from a few numbers. For rooms.cpp only: see there for why the numbers may
// be too high.
#pragma once

#include "src/plan/fit.h"
#include "src/plan/rooms.h"

#include <algorithm>
#include <cstdint>

namespace harmony {

// Most counts are divided by 1, and a division takes longer than all else that is done with a node.
inline int divided(int what, int by) { return by == 1 ? what : what / by; }

struct Free {
  int cores = 0;
  int gpus = 0;
  std::uint64_t memory_mb = 0;
};

inline Free free_now(const NodeState &node, const Component &component) {
  const int gpus = component.gpus.model.empty() ? node.free_gpus.count() : suitable_gpus(node, component).count();
  return {node.free_cores.count(), gpus, node.free_memory_mb};
}

// What tenants hold counts as free. Cores are counted by tenant, because specialised cores are no tenant's.
inline Free free_when_empty(const NodeState &node, const Component &component) {
  Free free{node.free_cores.count(), node.free_gpus.size(), node.memory_mb};
  for (const Tenant &tenant : node.tenants) free.cores += tenant.cores;
  if (!component.gpus.model.empty())
    free.gpus = static_cast<int>(std::count(node.gpu_models.begin(), node.gpu_models.end(), component.gpus.model));
  return free;
}

class TaskCounter {
public:
  TaskCounter(const View &view, const Component &component, const Rooms &rooms)
      : component_(component), memory_counts_(view.cluster().memory_counts()), gpw_(rooms.gpus_per_worker),
        gpp_(rooms.gpus_per_ps), least_gpus_(least_gpus()) {}

  // Fills in the three numbers; false if not even one task fits.
  bool count(int threads, const Free &free, NodeClass &like) const {
    if (free.gpus < least_gpus_) return false;
    int cores = free.cores, gpus = free.gpus;
    if (memory_counts_) {
      if (component_.memory_per_node_mb > free.memory_mb) return false;
      if (component_.memory_per_cpu_mb)
        cores = static_cast<int>(
            std::min<std::uint64_t>(static_cast<std::uint64_t>(cores), free.memory_mb / component_.memory_per_cpu_mb /
                                                                           static_cast<std::uint64_t>(threads)));
      if (component_.memory_per_gpu_mb)
        gpus = static_cast<int>(
            std::min<std::uint64_t>(static_cast<std::uint64_t>(gpus), free.memory_mb / component_.memory_per_gpu_mb));
    }
    int tasks = tasks_by_cores(threads, cores);
    if (component_.tasks_per_node) tasks = std::min(tasks, component_.tasks_per_node);
    if (component_.gpus.per_node > gpus) return false;
    const int workers = gpw_ ? divided(gpus, gpw_) : tasks;
    const int ps = gpp_ ? divided(gpus, gpp_) : tasks;
    if (gpw_ && gpp_) tasks = std::min(tasks, gpus / std::min(gpw_, gpp_));
    return capped(workers, ps, tasks, like);
  }

  // The same by the functions that plans are made with.
  bool count_exactly(const NodeState &node, NodeClass &like) const {
    const int workers = std::max(0, most_workers(node, component_, 0, memory_counts_));
    const int ps = std::max(0, most_ps(node, component_, 0, memory_counts_));
    const int both = workers + std::max(0, most_ps(node, component_, workers, memory_counts_));
    return capped(workers, ps, both, like);
  }

  bool by_memory() const {
    return memory_counts_ &&
           (component_.memory_per_node_mb || component_.memory_per_cpu_mb || component_.memory_per_gpu_mb);
  }

private:
  int least_gpus() const {
    if (component_.gpus.per_node) return component_.gpus.per_node;
    const int task = component_.workers == 0 ? gpp_ : component_.ps == 0 ? gpw_ : std::min(gpw_, gpp_);
    return std::max(task, least_free_gpus(component_));
  }

  int tasks_by_cores(int threads, int cores) const {
    const int cpus = std::max(1, component_.cpus_per_task);
    if (component_.one_task_a_core || cpus >= threads) return divided(cores, divided(cpus + threads - 1, threads));
    return divided(cores * threads, cpus);
  }

  bool capped(int workers, int ps, int tasks, NodeClass &like) const {
    like.workers = std::min({workers, tasks, component_.workers});
    like.ps = std::min({ps, tasks, component_.ps});
    like.tasks = std::min(tasks, like.workers + like.ps);
    return like.tasks > 0;
  }

  const Component &component_;
  const bool memory_counts_;
  const int gpw_, gpp_, least_gpus_;
};

} // namespace harmony
