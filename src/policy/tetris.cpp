// Tetris (SIGCOMM'14): each task to the node whose free resources are most aligned with what the task demands.

#include "src/policy/policies.h"

#include "src/plan/fit.h"

#include <algorithm>

namespace harmony {
namespace {

struct Demand {
  double cpus = 0;
  double gpus = 0;
  double memory_mb = 0;
};

Demand demand_of(const Component &component, bool ps) {
  Demand demand;
  demand.cpus = std::max(1, component.cpus_per_task);
  demand.gpus = ps ? gpus_per_ps(component) : gpus_per_worker(component);
  if (component.gpus.per_node)
    demand.gpus = static_cast<double>(component.gpus.per_node) * component.min_nodes / std::max(1, component.tasks());
  if (component.memory_per_cpu_mb) demand.memory_mb = static_cast<double>(component.memory_per_cpu_mb) * demand.cpus;
  if (component.memory_per_gpu_mb) demand.memory_mb = static_cast<double>(component.memory_per_gpu_mb) * demand.gpus;
  return demand;
}

double aligned(double demand, double in_use, double capacity) {
  if (capacity <= 0) return 0;
  return demand / capacity * std::max(0.0, 1 - in_use / capacity);
}

// The product over cores, GPUs and memory, each normalised by the node's capacity.
Score by_alignment(const Rooms &, const Component &component) {
  const Demand worker = demand_of(component, false), ps = demand_of(component, true);
  return [=](const NodeClass &node, int workers, int pss, bool for_ps) {
    const Demand &one = for_ps ? ps : worker;
    const double cpus = static_cast<double>(node.cores) * node.threads_per_core;
    const double cpus_used = static_cast<double>(node.cores - node.free_cores) * node.threads_per_core +
                             workers * worker.cpus + pss * ps.cpus;
    const double gpus_used = node.gpus - node.free_gpus + workers * worker.gpus + pss * ps.gpus;
    const double memory = static_cast<double>(node.memory_mb);
    const double memory_used = memory * (64 - node.free_memory) / 64 + workers * worker.memory_mb + pss * ps.memory_mb;
    return aligned(one.cpus, cpus_used, cpus) + aligned(one.gpus, gpus_used, node.gpus) +
           aligned(one.memory_mb, memory_used, memory);
  };
}

class Tetris : public Policy {
public:
  const char *name() const override { return "tetris"; }

  Proposal propose(const Cluster &cluster, const Gang &gang, bool) const override {
    GangPlacer placer(cluster, gang, false);
    auto best = placer.by_turns(by_alignment);
    if (!best) return no_room_for(placer);
    return place_at({packed(cluster, std::move(*best), "each task where it aligns best")},
                    "each task on the node whose free resources match its demand best");
  }
};

} // namespace

std::unique_ptr<Policy> make_tetris() { return std::make_unique<Tetris>(); }

} // namespace harmony
