// Several policies on the same workloads, on as many threads as wanted; the result does not depend on their number.
#pragma once

#include "src/sim/result.h"
#include "src/sim/simulate.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace harmony {

// A policy by name, made anew for each simulation.
struct Contender {
  std::string name;
  bool undisturbed = false; // the bound: every job at its best
  // `rules` has nothing running and outlives what is made.
  std::function<PlanRound(const Truth &rules, std::uint64_t seed)> make;
};

struct CompareInput {
  const SimCluster &cluster;
  const JobTypes &types;
  const Truth &truth;
  std::vector<Workload> workloads; // one a seed
  std::vector<Contender> contenders;
  SimOptions options;
  int threads = 1;
  // Called from the threads: a watcher for one simulation, or nullptr.
  std::function<std::unique_ptr<SimWatcher>(const std::string &policy, std::uint64_t seed)> watcher;
  std::uint64_t first_seed = 1; // of the workloads
};

// The names, the nodes and the summaries are filled in; scenario, order, load and command are the caller's. Throws what
// a simulation throws.
Comparison compare_policies(const CompareInput &input);

} // namespace harmony
