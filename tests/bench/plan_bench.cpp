// The budgets of planning, on one core: one gang, and a round with a long queue, in clusters of several states.

#include "src/plan/planner.h"
#include "tests/bench/clusters.h"

#include <benchmark/benchmark.h>

namespace {

using namespace harmony;
using namespace clusters;

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
  GANG_BENCHMARK_IN(id / idle, name, idle);                                                                            \
  GANG_BENCHMARK_IN(id / half_full, name, half_full);                                                                  \
  GANG_BENCHMARK_IN(id / nearly_full, name, nearly_full)
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
  ROUND_BENCHMARK_IN(id / idle, name, idle);                                                                           \
  ROUND_BENCHMARK_IN(id / half_full, name, half_full);                                                                 \
  ROUND_BENCHMARK_IN(id / nearly_full, name, nearly_full)
ROUND_BENCHMARK(pack, "pack");
ROUND_BENCHMARK(spread, "spread");
ROUND_BENCHMARK(tetris, "tetris");
ROUND_BENCHMARK(lif, "lif");
ROUND_BENCHMARK(one_distributed, "one-distributed");
ROUND_BENCHMARK(cons1, "cons1");

} // namespace

BENCHMARK_MAIN();
