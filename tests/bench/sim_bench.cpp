// How fast simulations are, in CPU time of one thread: rows of tests/bench/run's table.
//   sim-bench --data DIR      DIR holds pollux/workloads and pollux/traces; without them those rows say so

#include "src/policy/policy.h"
#include "src/sim/truth/contention.h"
#include "src/sim/input/read_jobs.h"
#include "src/sim/input/scenario.h"
#include "src/sim/simulate.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <ctime>
#include <filesystem>
#include <sys/resource.h>

namespace {

using namespace harmony;

double cpu_s() {
  timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

double most_memory_mb() {
  rusage use;
  getrusage(RUSAGE_SELF, &use);
  return static_cast<double>(use.ru_maxrss) / 1024;
}

void row(const std::string &what, const std::string &figure, const std::string &target) {
  fmt::print("{:<56} {:>14}   {}\n", what, figure, target);
  std::fflush(stdout);
}

SimCluster nodes(int count, const std::string &topology) {
  SimCluster cluster;
  NodeGroup group;
  group.count = count;
  group.topology = topology;
  add_group(cluster, group);
  return cluster;
}

struct Took {
  double seconds = 0;
  SimResult result;
};

Took simulated(const SimCluster &cluster, const Workload &workload, const std::string &policy) {
  const JobTypes types;
  const auto truth = make_contention(cluster, types);
  const auto by = make_policy(policy);
  const SimOptions options;
  const double begin = cpu_s();
  BestPlace best(cluster, types, *truth);
  Took took;
  took.result = simulate({cluster, types, workload, *truth, best}, rounds_of(*by, options.settings), options);
  took.seconds = cpu_s() - begin;
  return took;
}

void traces(const std::string &data) {
  const std::string pollux = data + "/pollux/workloads/workload-1.csv", philly = data + "/pollux/traces/philly.csv";
  if (!std::filesystem::exists(pollux) || !std::filesystem::exists(philly)) {
    row("traces", "not there", data);
    return;
  }
  for (const char *policy : {"pack", "lif"})
    row(fmt::format("160 jobs of Pollux on 16 nodes, policy {}", policy),
        fmt::format("{:.3f} s", simulated(nodes(16, "quad4"), read_jobs(pollux, {}), policy).seconds), "<= 0.1 s");
  const Took took = simulated(nodes(550, "quad4"), read_jobs(philly, {}), "pack");
  row("82,247 jobs of Philly on 550 nodes, policy pack", fmt::format("{:.1f} s", took.seconds), "<= 60 s");
  row("  memory", fmt::format("{:.0f} MB", most_memory_mb()), "<= 1000 MB");
}

// The same jobs for each GPU, so that only the cluster's size differs.
void growth() {
  const Scenario scenario = make_scenario("mixed64");
  for (const int count : {64, 256, 1024, 4096}) {
    Scenario larger = scenario;
    larger.cluster.nodes.clear();
    larger.cluster.racks.clear();
    for (int i = 0; i < count; ++i) {
      larger.cluster.nodes.push_back(scenario.cluster.nodes[static_cast<std::size_t>(i % 64)]);
      larger.cluster.nodes.back().name = fmt::format("n{}", i);
      larger.cluster.racks.emplace_back();
    }
    const Took took = simulated(larger.cluster, scenario_jobs(larger, 0.7, 10 * count, 1), "pack");
    row(fmt::format("events a second, mixed64 grown to {} nodes, {} jobs", count, 10 * count),
        fmt::format("{:.0f}", static_cast<double>(took.result.events) / took.seconds), "");
  }
}

} // namespace

int main(int argc, char **argv) {
  CLI::App app{"How fast simulations are"};
  std::string data;
  app.add_option("--data", data, "Where the traces are")->required();
  CLI11_PARSE(app, argc, argv);
  traces(data);
  growth();
}
