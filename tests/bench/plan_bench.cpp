// The budgets of planning, on one core: one gang, and a round with a long queue, in clusters of several states.

#include "src/plan/planner.h"
#include "tests/unit/plan_fixtures.h"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <random>

namespace {

using namespace harmony;

// Nodes with 8 GPUs, in every state of use; some of their jobs are distributed.
Snapshot busy_cluster(int nodes, int busy_of_8) {
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

// A part of the GPUs is in use, by jobs of different types, sizes and numbers of workers and PS, many of them on several
// nodes: hardly two nodes have the same neighbours.
Snapshot shared_cluster(int nodes, double part_in_use) {
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
Snapshot busy(int nodes) { return busy_cluster(nodes, 8); }
Snapshot idle(int nodes) { return fixtures::cluster(nodes, "pcie8"); }
Snapshot half_full(int nodes) { return shared_cluster(nodes, 0.5); }
Snapshot nearly_full(int nodes) { return shared_cluster(nodes, 0.95); }

// Target: p99 5 ms at 1,000 nodes, 50 ms at 16,000.
void gang_of_16_tasks(benchmark::State &state, const char *name, State cluster_of) {
  const Snapshot snapshot = cluster_of(static_cast<int>(state.range(0)));
  const Cluster cluster(snapshot);
  const Gang gang = fixtures::gang(snapshot, 1, 12, 4);
  const auto policy = make_policy(name);
  for (auto _ : state) {
    const Proposal proposal = policy->propose(cluster, gang, true);
    if (proposal.verdict == Verdict::no_room) state.SkipWithError(proposal.reason.c_str());
    benchmark::DoNotOptimize(proposal.plan.placements.data());
  }
}
#define GANG_BENCHMARK_IN(id, name, cluster_of)                                                                        \
  BENCHMARK_CAPTURE(gang_of_16_tasks, id, name, cluster_of)->Arg(1000)->Arg(16000)->Unit(benchmark::kMillisecond)
#define GANG_BENCHMARK(id, name)                                                                                       \
  GANG_BENCHMARK_IN(id, name, busy);                                                                                   \
  GANG_BENCHMARK_IN(id/idle, name, idle);                                                                              \
  GANG_BENCHMARK_IN(id/half_full, name, half_full);                                                                    \
  GANG_BENCHMARK_IN(id/nearly_full, name, nearly_full)
GANG_BENCHMARK(pack, "pack");
GANG_BENCHMARK(spread, "spread");
GANG_BENCHMARK(tetris, "tetris");
GANG_BENCHMARK(lif, "lif");
GANG_BENCHMARK(one_distributed, "one-distributed");
GANG_BENCHMARK(cons1, "cons1");

// A hetjob's components are placed one after another.
void hetjob_of_16_tasks(benchmark::State &state) {
  const Snapshot snapshot = busy_cluster(static_cast<int>(state.range(0)), 8);
  const Cluster cluster(snapshot);
  const Gang gang = fixtures::hetjob(snapshot, 1, 12, 4);
  const auto policy = make_policy("pack");
  for (auto _ : state) benchmark::DoNotOptimize(policy->propose(cluster, gang, true).plan.placements.data());
}
BENCHMARK(hetjob_of_16_tasks)->Arg(1000)->Arg(16000)->Unit(benchmark::kMillisecond);

// Target: 5 s. 4,000 jobs, 100,000 tasks, 16,000 nodes.
void round_of_4000_gangs(benchmark::State &state, const char *name, State cluster_of) {
  Snapshot snapshot = cluster_of(16000);
  for (std::uint32_t job = 1; job <= 4000; ++job) {
    const int tasks = 10 + static_cast<int>(job % 31); // 25 on average
    snapshot.pending.push_back(fixtures::gang(snapshot, job, tasks - tasks / 5, tasks / 5));
  }
  const auto policy = make_policy(name);
  for (auto _ : state) {
    const RoundResult result = plan_round(snapshot, *policy, Settings(), 1, [] { return false; });
    int placed = 0;
    for (const Decision &decision : result.decisions) placed += decision.verdict == Verdict::place;
    state.counters["placed"] = placed;
  }
}
#define ROUND_BENCHMARK_IN(id, name, cluster_of)                                                                       \
  BENCHMARK_CAPTURE(round_of_4000_gangs, id, name, cluster_of)->Unit(benchmark::kSecond)->Iterations(1)
#define ROUND_BENCHMARK(id, name)                                                                                      \
  ROUND_BENCHMARK_IN(id, name, busy);                                                                                  \
  ROUND_BENCHMARK_IN(id/idle, name, idle);                                                                             \
  ROUND_BENCHMARK_IN(id/half_full, name, half_full);                                                                   \
  ROUND_BENCHMARK_IN(id/nearly_full, name, nearly_full)
ROUND_BENCHMARK(pack, "pack");
ROUND_BENCHMARK(spread, "spread");
ROUND_BENCHMARK(tetris, "tetris");
ROUND_BENCHMARK(lif, "lif");
ROUND_BENCHMARK(one_distributed, "one-distributed");
ROUND_BENCHMARK(cons1, "cons1");

} // namespace

BENCHMARK_MAIN();
