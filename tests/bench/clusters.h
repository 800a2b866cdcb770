// The clusters that benchmarks plan for: 8 GPUs a node, in several states of use.
#pragma once

#include "tests/unit/plan_fixtures.h"

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

namespace harmony {
namespace clusters {

// Nodes with 8 GPUs, in every state of use; some of their jobs are distributed.
inline Snapshot busy_cluster(int nodes, int busy_of_8) {
  std::mt19937 random(17);
  Snapshot snapshot = fixtures::cluster(nodes, "pcie8");
  for (int i = 0; i + 1 < nodes; i += 2) {
    const int gpus = static_cast<int>(random() % static_cast<unsigned>(busy_of_8 + 1));
    std::vector<int> taken;
    for (int gpu = 0; gpu < gpus; ++gpu) taken.push_back(gpu);
    if (gpus == 0) continue;
    const auto job = static_cast<std::uint32_t>(1000 + i);
    if (random() % 4 == 0)
      fixtures::run(snapshot, job, {{i, taken, 1}, {i + 1, {taken.front()}, 0}});
    else
      fixtures::run(snapshot, job, {{i, taken, 0}}, 2);
  }
  return snapshot;
}

// A part of the GPUs is in use, by jobs of different types, sizes and numbers of workers and PS, many of them on
// several nodes: hardly two nodes have the same neighbours.
inline Snapshot shared_cluster(int nodes, double part_in_use) {
  static const char *const types[] = {"resnet50", "vgg16", "lstm", "bert", "gpt2", "dlrm", "unknown"};
  std::mt19937 random(29);
  const auto below = [&](int limit) { return static_cast<int>(random() % static_cast<unsigned>(limit)); };
  Snapshot snapshot = fixtures::cluster(nodes, "pcie8");
  const int to_use = static_cast<int>(part_in_use * nodes * 8);
  int used = 0;
  for (std::uint32_t job = 100000; used < to_use; ++job) {
    const int first = below(nodes), parts = std::min(nodes - first, below(3) == 0 ? 2 + below(4) : 1);
    const int workers = 1 + below(4), cores_a_task = 1 + below(2);
    std::vector<fixtures::On> where;
    for (int i = first; i < first + parts; ++i) {
      const NodeState &node = snapshot.nodes[static_cast<std::size_t>(i)];
      fixtures::On on{i, {}, below(3)};
      for (int gpu = node.free_gpus.next(below(8)); gpu >= 0 && static_cast<int>(on.gpus.size()) < workers;
           gpu = node.free_gpus.next(gpu + 1))
        on.gpus.push_back(gpu);
      if (on.gpus.empty() || node.free_cores.count() < (workers + on.ps) * cores_a_task) continue;
      used += static_cast<int>(on.gpus.size());
      where.push_back(on);
    }
    if (where.empty()) continue;
    fixtures::run(snapshot, job, where, cores_a_task);
    for (const fixtures::On &on : where)
      snapshot.nodes[static_cast<std::size_t>(on.node)].free_memory_mb -= static_cast<unsigned>(1 + below(8)) * 4096;
    snapshot.running.back().type = types[below(7)];
    snapshot.running.back().model_kb = static_cast<std::uint32_t>(1 + below(4000)) * 1000;
  }
  return snapshot;
}

using State = Snapshot (*)(int nodes);
inline Snapshot busy(int nodes) { return busy_cluster(nodes, 8); }
inline Snapshot idle(int nodes) { return fixtures::cluster(nodes, "pcie8"); }
inline Snapshot half_full(int nodes) { return shared_cluster(nodes, 0.5); }
inline Snapshot nearly_full(int nodes) { return shared_cluster(nodes, 0.95); }

struct Named {
  const char *name;
  State cluster_of;
};
constexpr Named states[] = {{"idle", idle}, {"half full", half_full}, {"nearly full", nearly_full}};

} // namespace clusters
} // namespace harmony
