#include "tests/emulator/compare_result.h"

#include "src/sim/compare.h"
#include "src/sim/contenders.h"
#include "src/sim/input/read_jobs.h"
#include "src/sim/metrics.h"
#include "src/sim/report/report.h"
#include "tests/emulator/live_comparison.h"
#include "tests/emulator/live_result.h"

#include <fmt/format.h>

#include <cstdio>
#include <fstream>
#include <stdexcept>

namespace harmony {
namespace {

struct LiveRun {
  SimResult result;
  SlurmTimes times;
};

LiveRun read_run(EmulatedCluster &cluster, const Workload &workload, const std::string &dir, double speedup) {
  LiveRun run;
  run.result = live_result(cluster, workload, read_submissions(dir + "/submitted"),
                           read_gang_events(dir + "/gangs.log", cluster), speedup);
  run.times =
      slurm_times(read_submissions(dir + "/probe-submitted"), read_gang_events(dir + "/probe-gangs.log", cluster));
  return run;
}

// With the time that Slurm itself was measured to take, and the same limits.
SimResult simulated(EmulatedCluster &cluster, const Workload &workload, const std::string &policy,
                    const SlurmTimes &times, const ResultOptions &options) {
  SimOptions how;
  how.settings.max_wait_s = options.max_wait_s;
  how.launch_s = times.launch_s * options.speedup;
  how.release_s = std::max(0.0, times.turn_around_s - times.launch_s) * options.speedup;
  how.map_frames = 40;
  CompareInput input{cluster.scenario.cluster, cluster.types, *cluster.rules, {workload}, {}, how, 1, {}};
  input.contenders =
      make_contenders({policy}, {how.settings, {}, options.model, options.torch_library}, *cluster.rules);
  return std::move(compare_policies(input).results.front().front());
}

Comparison comparison_of(const EmulatedCluster &cluster, const Workload &workload, std::vector<SimResult> results,
                         const char *how, const ResultOptions &options) {
  // Of no policy, for the names and the shapes of the nodes.
  const CompareInput nothing{cluster.scenario.cluster, cluster.types, *cluster.rules, {workload}, {}, {}, 1, {}};
  Comparison made = compare_policies(nothing);
  made.scenario = fmt::format("{}, {}", options.scenario, how);
  made.load = options.load;
  made.command = options.command;
  for (SimResult &result : results) {
    result.seed = options.seed;
    made.results.push_back({std::move(result)});
  }
  summarise(made);
  return made;
}

void write_text(const std::string &path, const std::string &text) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << text;
  file.close();
  if (!file) throw std::runtime_error(fmt::format("{}: cannot be written", path));
}

} // namespace

int show_result(const ResultOptions &options) {
  EmulatedCluster cluster(options.scenario);
  const Workload workload = read_jobs(options.workload, {});
  LiveRun stock = read_run(cluster, workload, options.stock_dir, options.speedup);
  LiveRun ours = read_run(cluster, workload, options.ours_dir, options.speedup);
  stock.result.policy = "stock";
  ours.result.policy = options.policy;

  LiveComparison both;
  both.speedup = options.speedup;
  both.seed = options.seed;
  both.stock_times = stock.times;
  both.ours_times = ours.times;
  both.simulated = comparison_of(cluster, workload,
                                 {simulated(cluster, workload, "stock", stock.times, options),
                                  simulated(cluster, workload, options.policy, ours.times, options)},
                                 "simulated", options);
  both.live = comparison_of(cluster, workload, {std::move(stock.result), std::move(ours.result)}, "live", options);
  both.live.live = true;

  if (options.json == "-")
    std::fputs(live_comparison_json(both).c_str(), stdout);
  else
    std::fputs((options.brief ? live_comparison_brief(both) : live_comparison_text(both)).c_str(), stdout);
  if (!options.json.empty() && options.json != "-") write_text(options.json, live_comparison_json(both));
  if (!options.report.empty()) write_report(options.report, {both.live, both.simulated});
  return worst_error(both) <= allowed_error ? 0 : exit_prediction_missed;
}

} // namespace harmony
