#include "src/sim/compare.h"

#include "src/sim/metrics.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <map>
#include <mutex>
#include <stdexcept>
#include <system_error>
#include <thread>

namespace harmony {
namespace {

class Runs {
public:
  Runs(const CompareInput &input, Comparison &into) : input_(input), into_(into) {
    into_.results.resize(input.contenders.size());
    for (std::vector<SimResult> &results : into_.results) results.resize(input.workloads.size());
  }

  void run() {
    const std::size_t all = input_.contenders.size() * input_.workloads.size();
    const auto wanted = static_cast<std::size_t>(std::max(1, input_.threads));
    std::vector<std::thread> threads;
    try {
      for (std::size_t i = 1; i < std::min(wanted, all); ++i) threads.emplace_back([this] { work(); });
    } catch (const std::system_error &) {
      // With fewer it only takes longer.
    }
    work();
    for (std::thread &thread : threads) thread.join();
    if (thrown_) std::rethrow_exception(thrown_);
  }

private:
  void work() {
    for (;;) {
      const std::size_t next = next_++;
      if (next >= input_.contenders.size() * input_.workloads.size() || failed_) return;
      try {
        one(next % input_.contenders.size(), next / input_.contenders.size());
      } catch (...) {
        const std::lock_guard lock(mutex_);
        if (!thrown_) thrown_ = std::current_exception();
        failed_ = true;
      }
    }
  }

  void one(std::size_t contender, std::size_t workload) {
    const Contender &who = input_.contenders[contender];
    SimOptions options = input_.options;
    options.seed = input_.first_seed + workload;
    options.undisturbed = who.undisturbed;
    if (workload > 0) options.map_frames = 0;
    const std::unique_ptr<Truth> rules = input_.truth.empty();
    BestPlace best(input_.cluster, input_.types, *rules);
    const SimInput sim{input_.cluster, input_.types, input_.workloads[workload], *rules, best};
    const PlanRound plan = who.make(*rules, options.seed);
    const auto watcher = input_.watcher ? input_.watcher(who.name, options.seed) : nullptr;
    SimResult result;
    try {
      result = simulate(sim, plan, options, watcher.get());
    } catch (const std::runtime_error &problem) {
      throw std::runtime_error(fmt::format("policy {}, seed {}: {}", who.name, options.seed, problem.what()));
    }
    result.policy = who.name;
    into_.results[contender][workload] = std::move(result);
  }

  const CompareInput &input_;
  Comparison &into_;
  std::atomic<std::size_t> next_{0};
  std::atomic<bool> failed_{false};
  std::mutex mutex_;
  std::exception_ptr thrown_; // guarded by mutex_
};

Comparison::NodeShape shape_of(const Topology &topology) {
  std::map<int, int> gpus;
  for (const Gpu &gpu : topology.gpus) ++gpus[gpu.domain];
  return {gpus.begin(), gpus.end()};
}

} // namespace

Comparison compare_policies(const CompareInput &input) {
  Comparison comparison;
  comparison.truth = input.truth.title();
  comparison.order = order_name(input.options.order);
  comparison.nodes = static_cast<int>(input.cluster.nodes.size());
  comparison.gpus = input.cluster.gpus();
  for (const NodeState &node : input.cluster.nodes) {
    comparison.node_names.push_back(node.name);
    comparison.node_shapes.push_back(shape_of(*node.topology));
  }
  for (const Workload &workload : input.workloads) comparison.jobs = std::max(comparison.jobs, workload.jobs.size());
  Runs(input, comparison).run();
  summarise(comparison);
  return comparison;
}

} // namespace harmony
