#include "src/learn/workloads.h"

#include "src/sim/input/scenario.h"
#include "src/sim/random.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

namespace harmony {
namespace {

constexpr std::size_t fewest_to_split = 60;

bool could_run(const SimCluster &cluster, const SimJob &job) {
  int gpus = 0, cores = 0;
  for (const NodeState &node : cluster.nodes) {
    const int on_gpus = job.gpus_per_worker ? node.free_gpus.count() / job.gpus_per_worker : job.workers;
    gpus += on_gpus;
    cores += node.free_cores.count() / std::max(1, job.cpus_per_worker);
  }
  return gpus >= job.workers && cores >= job.workers + job.ps;
}

} // namespace

JobSplit split_by_time(const TrainingCluster &cluster, double held_out) {
  if (cluster.jobs.size() < fewest_to_split) return {cluster.jobs, cluster.jobs, false};
  const auto border = static_cast<std::ptrdiff_t>(static_cast<double>(cluster.jobs.size()) * (1 - held_out));
  return {
      {cluster.jobs.begin(), cluster.jobs.begin() + border}, {cluster.jobs.begin() + border, cluster.jobs.end()}, true};
}

double load_of(const std::vector<SimJob> &jobs, const SimCluster &cluster) {
  if (jobs.size() < 2 || jobs.back().submit_s <= jobs.front().submit_s || cluster.gpus() == 0) return 0;
  double work = 0;
  for (const SimJob &job : jobs) work += job.duration_s * job.gpus();
  return work / (jobs.back().submit_s - jobs.front().submit_s) / cluster.gpus();
}

int jobs_to_judge_by(const SimCluster &cluster, int most) {
  constexpr int for_each_gpu = 8, fewest = 120;
  return std::clamp(for_each_gpu * cluster.gpus(), std::min(fewest, most), most);
}

Workload make_workload(const SimCluster &cluster, const std::vector<SimJob> &jobs, const WorkloadOptions &options) {
  std::vector<const SimJob *> usable;
  for (const SimJob &job : jobs)
    if (could_run(cluster, job)) usable.push_back(&job);
  if (usable.empty()) throw std::runtime_error(fmt::format("no job of the dataset fits on cluster {}", cluster.name));
  Random random(options.seed, "workload");
  Workload workload{fmt::format("{} seed {}", cluster.name, options.seed), {}, {}};
  double at = 0;
  for (int i = 1; i <= options.jobs; ++i) {
    SimJob job = *usable[static_cast<std::size_t>(random.below(static_cast<int>(usable.size())))];
    job.id = static_cast<std::uint32_t>(i);
    job.submit_s = at;
    workload.jobs.push_back(std::move(job));
    // As far apart as two of them were, so that bursts stay bursts.
    const auto next =
        static_cast<std::size_t>(1 + random.below(static_cast<int>(std::max<std::size_t>(2, jobs.size()) - 1)));
    const double gap = next < jobs.size() ? jobs[next].submit_s - jobs[next - 1].submit_s : 1;
    at += std::max(0.0, gap);
  }
  if (workload.jobs.back().submit_s <= 0) // all at once: spread them
    for (std::size_t i = 0; i < workload.jobs.size(); ++i) workload.jobs[i].submit_s = static_cast<double>(i);
  set_load(workload, cluster, options.load, [](const SimJob &job) { return job.duration_s; });
  return workload;
}

} // namespace harmony
