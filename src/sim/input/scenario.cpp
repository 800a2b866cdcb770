#include "src/sim/input/scenario.h"

#include "src/sim/input/scenario_mix.h"
#include "src/values/printable.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace harmony {
namespace {

constexpr int most_scenario_jobs = 10'000'000;
constexpr int first_user = 1000, users = 40;

const ScenarioMix &mix_of(const std::string &name) {
  for (const ScenarioMix &mix : scenario_mixes())
    if (mix.name == name) return mix;
  throw std::runtime_error(
      fmt::format("no scenario \"{}\"; there are: {}", printable(name), fmt::join(scenario_names(), ", ")));
}

double draw_duration(Random &random, const Durations &durations) {
  constexpr int tries = 1000;
  double seconds = 0;
  for (int i = 0; i < tries; ++i) {
    seconds = std::exp(durations.log_mean + durations.log_deviation * random.normal());
    if (seconds >= durations.least_s && seconds <= durations.most_s) break;
  }
  return std::round(std::clamp(seconds, durations.least_s, durations.most_s));
}

SimJob draw_job(const ScenarioMix &mix, std::uint32_t id, std::uint64_t seed) {
  Random random(seed, "jobs", id);
  SimJob job;
  job.id = id;
  job.type = draw(random, mix.types);
  job.workers = draw(random, mix.workers);
  const bool with_ps = random.unit() < mix.with_ps && job.workers >= mix.ps_from;
  job.ps = with_ps ? std::max(1, job.workers / mix.workers_per_ps) : 0;
  job.cpus_per_worker = job.cpus_per_ps = mix.cpus_per_task;
  job.duration_s = draw_duration(random, job.workers == 1 ? mix.of_one : mix.of_several);
  job.user = static_cast<std::uint32_t>(first_user + random.below(users));
  return job;
}

} // namespace

std::vector<std::string> scenario_names() {
  std::vector<std::string> names;
  for (const ScenarioMix &mix : scenario_mixes()) names.push_back(mix.name);
  return names;
}

Scenario make_scenario(const std::string &name) {
  const ScenarioMix &mix = mix_of(name);
  Scenario scenario{mix.name, mix.about, {}};
  scenario.cluster.name = mix.name;
  for (const NodeGroup &group : mix.groups) add_group(scenario.cluster, group);
  return scenario;
}

Workload scenario_jobs(const Scenario &scenario, double load, int jobs, std::uint64_t seed) {
  const ScenarioMix &mix = mix_of(scenario.name);
  if (!std::isfinite(load) || load < 0) throw std::runtime_error(fmt::format("a load of {} is not 0 or more", load));
  if (jobs < 0 || jobs > most_scenario_jobs)
    throw std::runtime_error(fmt::format("{} jobs are not from 0 to {}", jobs, most_scenario_jobs));
  const int count = jobs > 0 ? jobs : mix.jobs;
  Workload workload{fmt::format("{} seed {}", mix.name, seed), {}, {}};
  double work = 0;
  for (int i = 1; i <= count; ++i) {
    workload.jobs.push_back(draw_job(mix, static_cast<std::uint32_t>(i), seed));
    work += workload.jobs.back().duration_s * workload.jobs.back().gpus();
  }
  const bool by_gap = load == 0 && mix.natural_gap_s > 0;
  const double end_s = by_gap ? mix.natural_gap_s * (count - 1)
                              : work / (scenario.cluster.gpus() * (load > 0 ? load : mix.natural_load));
  const std::vector<double> times = arrival_times(mix.arrivals, count, end_s, seed);
  for (std::size_t i = 0; i < times.size(); ++i) workload.jobs[i].submit_s = times[i];
  return workload;
}

void set_load(Workload &workload, const SimCluster &cluster, double load,
              const std::function<double(const SimJob &)> &best_s) {
  if (!std::isfinite(load) || load <= 0) throw std::runtime_error(fmt::format("a load of {} is not above 0", load));
  if (workload.jobs.empty()) return;
  const double first = workload.jobs.front().submit_s, span = workload.jobs.back().submit_s - first;
  const int gpus = cluster.gpus();
  if (span <= 0 || gpus == 0) return;
  double work = 0;
  for (const SimJob &job : workload.jobs) work += best_s(job) * job.gpus();
  const double factor = work / (load * gpus) / span;
  for (SimJob &job : workload.jobs) job.submit_s = (job.submit_s - first) * factor;
}

} // namespace harmony
