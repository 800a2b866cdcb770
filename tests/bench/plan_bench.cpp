// The budgets of planning, on one core: one gang, and a round with a long queue.

#include "src/plan/planner.h"
#include "tests/unit/plan_fixtures.h"

#include <benchmark/benchmark.h>

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

// Target: p99 5 ms at 1,000 nodes, 50 ms at 16,000.
void gang_of_16_tasks(benchmark::State &state, const char *name) {
  const Snapshot snapshot = busy_cluster(static_cast<int>(state.range(0)), 8);
  const Cluster cluster(snapshot);
  const Gang gang = fixtures::gang(snapshot, 1, 12, 4);
  const auto policy = make_policy(name);
  for (auto _ : state) {
    const Proposal proposal = policy->propose(cluster, gang, true);
    if (proposal.verdict != Verdict::place) state.SkipWithError(proposal.reason.c_str());
    benchmark::DoNotOptimize(proposal.plan.placements.data());
  }
}
#define GANG_BENCHMARK(id, name)                                                                                       \
  BENCHMARK_CAPTURE(gang_of_16_tasks, id, name)->Arg(1000)->Arg(16000)->Unit(benchmark::kMillisecond)
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

// Target: 5 s. 4,000 jobs, 100,000 tasks, 16,000 nodes; `busy_of_8` sets how many of them have room.
void round_of_4000_gangs(benchmark::State &state, const char *name, int busy_of_8) {
  Snapshot snapshot = busy_cluster(16000, busy_of_8);
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
#define ROUND_BENCHMARK(id, name)                                                                                      \
  BENCHMARK_CAPTURE(round_of_4000_gangs, id, name, 8)->Unit(benchmark::kSecond)->Iterations(1)
ROUND_BENCHMARK(pack, "pack");
ROUND_BENCHMARK(spread, "spread");
ROUND_BENCHMARK(tetris, "tetris");
ROUND_BENCHMARK(lif, "lif");
ROUND_BENCHMARK(one_distributed, "one-distributed");
ROUND_BENCHMARK(cons1, "cons1");

} // namespace

BENCHMARK_MAIN();
