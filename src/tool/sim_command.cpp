#include "src/tool/sim_command.h"

#include "src/policy/learned.h"
#include "src/sim/truth/calibrate.h"
#include "src/sim/compare.h"
#include "src/sim/contenders.h"
#include "src/sim/truth/contention.h"
#include "src/sim/dataset_out.h"
#include "src/sim/input/read_jobs.h"
#include "src/sim/report/report.h"
#include "src/sim/result_text.h"
#include "src/sim/input/scenario.h"
#include "src/sim/sim_policies.h"
#include "src/sim/truth/tables.h"
#include "src/tool/sim_meter.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <stdexcept>
#include <thread>

namespace harmony {
namespace {

constexpr double usual_load = 0.7;
constexpr int usual_seeds = 8;
constexpr std::size_t report_frames = 40;

struct WrongUsage : std::runtime_error { // wrong usage, which has an exit code of its own
  using std::runtime_error::runtime_error;
};

// "-" is stdout.
void write_file(const std::string &path, const std::string &text) {
  if (path == "-") {
    std::fputs(text.c_str(), stdout);
    return;
  }
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  if (!file) throw std::runtime_error(fmt::format("{}: cannot be written", path));
}

// Before hours of simulation, not after them.
void check_outputs(const SimCommand &command) {
  for (const std::string &path : {command.json, command.jobs_out, command.report}) {
    if (path.empty() || path == "-") continue;
    if (!std::ofstream(path, std::ios::app)) throw std::runtime_error(fmt::format("{}: cannot be written", path));
  }
}

Combine combine_of(const std::string &name) {
  return name == "min" ? Combine::min : name == "additive" ? Combine::additive : Combine::product;
}

QueueOrder order_of(const std::string &name) {
  return name == "priority" ? QueueOrder::priority : name == "shortest" ? QueueOrder::shortest : QueueOrder::submit;
}

std::unique_ptr<Truth> truth_of(const SimCommand &command, const SimCluster &cluster, const JobTypes &types) {
  auto mechanistic = make_contention(cluster, types);
  if (command.speeds.empty() && command.contention.empty()) return mechanistic;
  return make_tables(command.speeds, command.contention, combine_of(command.combine), std::move(mechanistic));
}

SimOptions options_of(const SimCommand &command) {
  SimOptions options;
  options.settings.max_wait_s = command.max_wait_s;
  options.order = order_of(command.order);
  options.interval_s = command.interval_s;
  options.depth = command.depth;
  options.settings.promises = command.promises;
  options.limit_factor = command.limit_factor;
  options.noise = {command.noise_worker, command.noise_epoch};
  options.time_decisions = command.time_decisions;
  if (!command.report.empty()) options.map_frames = report_frames;
  return options;
}

std::vector<Contender> contenders_of(const SimCommand &command, const Truth &truth, const Settings &settings) {
  std::vector<std::string> names = command.policies;
  if (names.empty()) names = {"stock", "pack", "spread", "tetris", "lif", "one-distributed", "cons1"};
  const std::string model = command.model.empty() ? shipped_model : command.model;
  return make_contenders(names, {settings, command.dataset, model, command.torch_library}, truth);
}

// Tells both who wants to know.
class Watcher : public SimWatcher {
public:
  Watcher(std::unique_ptr<DatasetOut> dataset, SimMeter &meter) : dataset_(std::move(dataset)), meter_(meter) {}
  void started(const SimJob &job, const Gang &gang, const Plan &plan, const Snapshot &snapshot, double now,
               double speed, double best) override {
    if (dataset_) dataset_->started(job, gang, plan, snapshot, now, speed, best);
  }
  void went(const SimJob &job, const Progress::Change &change, const Snapshot &snapshot, double now,
            bool ended) override {
    if (dataset_) dataset_->went(job, change, snapshot, now, ended);
  }
  void at(double, std::size_t ended, std::size_t all) override {
    if (ended != ended_) meter_.ended(ended - ended_);
    ended_ = ended;
    if (dataset_ && ended == all) dataset_->close();
  }

private:
  std::unique_ptr<DatasetOut> dataset_;
  SimMeter &meter_;
  std::size_t ended_ = 0;
};

Comparison compare_on(const SimCommand &command, const SimCluster &cluster, const JobTypes &types, const Truth &truth,
                      std::vector<Workload> workloads, const std::string &scenario, double load) {
  CompareInput input{cluster, types, truth, std::move(workloads), {}, options_of(command), command.threads, {}};
  input.first_seed = static_cast<std::uint64_t>(command.first_seed);
  if (input.threads == 0) input.threads = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  input.contenders = contenders_of(command, truth, input.options.settings);
  std::size_t jobs = 0;
  for (const Workload &workload : input.workloads) jobs += workload.jobs.size() * input.contenders.size();
  SimMeter meter(jobs);
  input.watcher = [&](const std::string &policy, std::uint64_t seed) {
    std::unique_ptr<DatasetOut> dataset;
    if (!command.dataset_out.empty())
      dataset = std::make_unique<DatasetOut>(command.dataset_out,
                                             fmt::format("{}-{}-{}-{}", scenario, load, policy, seed), policy);
    return std::make_unique<Watcher>(std::move(dataset), meter);
  };
  Comparison comparison = compare_policies(input);
  comparison.scenario = scenario;
  comparison.load = load;
  return comparison;
}

std::vector<Comparison> of_scenarios(const SimCommand &command, const JobTypes &types) {
  std::vector<Comparison> all;
  for (const std::string &name : command.scenarios) {
    const Scenario scenario = make_scenario(name);
    const auto truth = truth_of(command, scenario.cluster, types);
    for (const double load : command.loads.empty() ? std::vector<double>{usual_load} : command.loads) {
      std::vector<Workload> workloads;
      for (int i = 0; i < (command.seeds ? command.seeds : usual_seeds); ++i)
        workloads.push_back(
            scenario_jobs(scenario, load, command.count, static_cast<std::uint64_t>(command.first_seed + i)));
      all.push_back(compare_on(command, scenario.cluster, types, *truth, std::move(workloads), name, load));
    }
  }
  return all;
}

// Those that could never run are refused, or dropped and told.
void keep_fitting(Workload &workload, BestPlace &best, bool drop) {
  std::vector<SimJob> kept;
  std::string first;
  for (SimJob &job : workload.jobs) {
    try {
      best.speed(job);
      kept.push_back(std::move(job));
    } catch (const std::runtime_error &problem) {
      if (!drop) throw;
      if (first.empty()) first = problem.what();
    }
  }
  if (kept.size() < workload.jobs.size())
    workload.notes.push_back(
        fmt::format("left out {} of {} jobs: {}", workload.jobs.size() - kept.size(), workload.jobs.size(), first));
  workload.jobs = std::move(kept);
}

Workload workload_of(const SimCommand &command, const SimCluster &cluster, BestPlace &best, double load,
                     std::uint64_t seed) {
  Workload workload = read_jobs(command.jobs, {command.format, command.skip_bad, seed, command.count});
  keep_fitting(workload, best, command.skip_bad);
  if (workload.jobs.empty()) throw std::runtime_error(fmt::format("{}: no job is left to simulate", command.jobs));
  const auto untyped = std::count_if(workload.jobs.begin(), workload.jobs.end(),
                                     [](const SimJob &job) { return job.type == unknown_type; });
  if (untyped > 0)
    workload.notes.push_back(
        fmt::format("{} of {} jobs have no type and are taken for a middling model", untyped, workload.jobs.size()));
  if (load == 0) return workload;
  if (workload.jobs.back().submit_s <= workload.jobs.front().submit_s)
    throw std::runtime_error(fmt::format("{}: all jobs arrive at once, so there is no load to set", command.jobs));
  set_load(workload, cluster, load, [&best](const SimJob &job) { return best.seconds(job); });
  return workload;
}

bool same_jobs(const Workload &one, const Workload &other) {
  return std::equal(one.jobs.begin(), one.jobs.end(), other.jobs.begin(), other.jobs.end(),
                    [](const SimJob &a, const SimJob &b) { return a.id == b.id && a.type == b.type && a.ps == b.ps; });
}

void tell(const std::string &note) { std::fprintf(stderr, "harmony sim: %s\n", note.c_str()); }

std::vector<Comparison> of_files(const SimCommand &command, const JobTypes &types) {
  const SimCluster cluster = read_cluster(command.cluster);
  const auto truth = truth_of(command, cluster, types);
  const bool seeds_matter = command.noise_worker > 0 || command.noise_epoch > 0 ||
                            std::count(command.policies.begin(), command.policies.end(), "random") > 0;
  std::vector<Comparison> all;
  for (const double load : command.loads.empty() ? std::vector<double>{0} : command.loads) {
    std::vector<Workload> workloads;
    BestPlace best(cluster, types, *truth);
    for (int seed = 1; seed <= std::max(1, command.seeds); ++seed) {
      workloads.push_back(
          workload_of(command, cluster, best, load, static_cast<std::uint64_t>(command.first_seed + seed - 1)));
      if (seed == 1 && all.empty())
        for (const std::string &note : workloads.front().notes) tell(note);
      if (seed != 2 || seeds_matter || !same_jobs(workloads[0], workloads[1])) continue;
      if (all.empty()) tell("every seed gives these same jobs, so they are simulated once");
      workloads.pop_back();
      break;
    }
    all.push_back(compare_on(command, cluster, types, *truth, std::move(workloads), cluster.name, load));
  }
  return all;
}

void list_all(const JobTypes &types) {
  std::fputs("Scenarios\n", stdout);
  for (const std::string &name : scenario_names())
    std::fputs(fmt::format("  {:<22} {}\n", name, make_scenario(name).about).c_str(), stdout);
  std::fputs("Policies\n", stdout);
  for (const PolicyName &policy : sim_policy_names())
    std::fputs(fmt::format("  {:<22} {}\n", policy.name, policy.about).c_str(), stdout);
  std::fputs(fmt::format("  {:<22} {}\n", learned_policy, "by the model of --model, or the shipped one").c_str(),
             stdout);
  std::fputs(
      fmt::format("  {:<22} {}\n", bound_policy, "the bound: every job at its best, whoever is beside it").c_str(),
      stdout);
  std::fputs("Job types\n", stdout);
  for (const std::string &name : types.names()) {
    const JobType &type = types.of(name);
    std::fputs(fmt::format("  {:<22} {:.0f} MB a step, {:.0f} ms: {}\n", name, type.parameters_mb,
                           1000 * type.compute_s, type.source)
                   .c_str(),
               stdout);
  }
}

void show(const SimCommand &command, std::vector<Comparison> comparisons) {
  for (Comparison &comparison : comparisons) comparison.command = command.command_line;
  if (command.json == "-")
    std::fputs(comparisons_json(comparisons).c_str(), stdout);
  else
    for (const Comparison &comparison : comparisons) {
      if (&comparison != &comparisons.front()) std::fputc('\n', stdout);
      std::fputs(comparison_text(comparison).c_str(), stdout);
    }
  if (!command.json.empty() && command.json != "-") write_file(command.json, comparisons_json(comparisons));
  if (!command.jobs_out.empty()) write_file(command.jobs_out, jobs_csv(comparisons));
  if (!command.report.empty()) write_report(command.report, comparisons);
}

int run(const SimCommand &command) {
  JobTypes types;
  if (!command.types.empty()) read_types(command.types, types);
  if (!command.calibrate.empty()) {
    std::fputs(calibration_text(calibrate(command.calibrate, types)).c_str(), stdout);
    return 0;
  }
  if (command.list) {
    list_all(types);
    return 0;
  }
  if (command.scenarios.empty() && command.cluster.empty())
    throw WrongUsage("--scenario, or --cluster and --jobs, say what to simulate; --list shows the scenarios");
  check_outputs(command);
  show(command, command.cluster.empty() ? of_scenarios(command, types) : of_files(command, types));
  return 0;
}

} // namespace

int run_sim(const SimCommand &command) {
  try {
    return run(command);
  } catch (const WrongUsage &wrong) {
    std::fprintf(stderr, "harmony sim: %s\n", wrong.what());
    return 2;
  } catch (const std::exception &failed) {
    std::fprintf(stderr, "harmony sim: %s\n", failed.what());
    return 1;
  }
}

} // namespace harmony
