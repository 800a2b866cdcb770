#include "tests/emulator/workload.h"

#include "tests/emulator/emulated_cluster.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <stdexcept>

namespace harmony {
namespace {

void write_text(const std::string &path, const std::string &text) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << text;
  file.close();
  if (!file) throw std::runtime_error(fmt::format("{}: cannot be written", path));
}

// One limit for all, which none of them reaches, in whole minutes as sbatch knows them; the simulator is told the same.
// Limits by the job would be some minutes of real time, and Slurm's backfill reckons with ends to half a minute only
// (bf_window_linear in slurm.conf(5)): on the jobs' clock that is a long time, and no rule of the simulator's.
double one_limit_s(const Workload &workload, EmulatedCluster &cluster, const WorkloadOptions &options) {
  double longest_s = 0;
  for (const SimJob &job : workload.jobs) longest_s = std::max(longest_s, cluster.best.seconds(job));
  return std::max(1.0, std::ceil(options.limit_factor * longest_s / options.speedup / 60)) * 60 * options.speedup;
}

Workload of_scenario(EmulatedCluster &cluster, const WorkloadOptions &options) {
  Workload workload = scenario_jobs(cluster.scenario, options.load, options.jobs, options.seed);
  const double limit_s = one_limit_s(workload, cluster, options);
  for (SimJob &job : workload.jobs) {
    job.epochs = cluster.best.epochs(job);
    job.time_limit_s = limit_s;
  }
  set_load(workload, cluster.scenario.cluster, options.load,
           [&cluster](const SimJob &job) { return cluster.best.seconds(job); });
  return workload;
}

// So that jobs that want every GPU have a task beside each, whoever deals them out.
int cores_of_gpu(const EmulatedCluster &cluster) {
  const NodeState &node = cluster.scenario.cluster.nodes.front();
  return node.free_cores.count() / node.free_gpus.count();
}

// Jobs 1 to 5 want every GPU and come at once: from the end of one to the start of the next it takes what Slurm needs
// to clean up, decide and launch. Jobs 6 to 11 come one by one to an empty cluster: they have only to be launched.
// Their times are no whole seconds, since Slurm does some things once a second.
Workload of_probe(EmulatedCluster &cluster, const WorkloadOptions &options) {
  constexpr int queued = 5, alone = 6;
  Workload workload;
  for (int i = 0; i < queued + alone; ++i) {
    SimJob job;
    job.id = static_cast<std::uint32_t>(i + 1);
    job.type = "resnet50";
    job.workers = i < queued ? cluster.scenario.cluster.gpus() : 2;
    job.ps = i < queued ? 0 : 1;
    job.cpus_per_worker = job.cpus_per_ps = i < queued ? cores_of_gpu(cluster) : 2;
    const double real_s = i < queued ? 0.45 + 0.17 * i : 0.3;
    job.epochs = real_s * options.speedup * cluster.best.speed(job);
    job.time_limit_s = 60 * options.speedup;
    job.submit_s = i < queued ? 0 : (10.5 + 1.37 * (i - queued)) * options.speedup;
    workload.jobs.push_back(job);
  }
  return workload;
}

std::string csv_text(const Workload &workload) {
  std::string text =
      "job_id,submit_s,type,workers,ps,gpus_per_worker,cpus_per_worker,cpus_per_ps,epochs,time_limit_s\n";
  for (const SimJob &job : workload.jobs)
    text += fmt::format("{},{:.3f},{},{},{},{},{},{},{},{:.0f}\n", job.id, job.submit_s, job.type, job.workers, job.ps,
                        job.gpus_per_worker, job.cpus_per_worker, job.cpus_per_ps, job.epochs, job.time_limit_s);
  return text;
}

std::string command_text(const Workload &workload, EmulatedCluster &cluster, double speedup) {
  std::string text;
  for (const SimJob &job : workload.jobs)
    text += fmt::format("{} {:.3f} -J emulated-{} -n {} -c {} --gpus={} -t {:.0f} | --harmony-type={} --harmony-ps={} "
                        "--harmony-epochs={} --harmony-model-mb={:.3f}\n",
                        job.id, job.submit_s / speedup, job.id, job.workers + job.ps, job.cpus_per_worker, job.gpus(),
                        job.time_limit_s / 60 / speedup, job.type, job.ps, cluster.told_epochs(job),
                        cluster.types.of(job.type).parameters_mb);
  return text;
}

} // namespace

int make_workload(const WorkloadOptions &options) {
  EmulatedCluster cluster(options.scenario);
  const Workload workload = options.probe ? of_probe(cluster, options) : of_scenario(cluster, options);
  for (const SimJob &job : workload.jobs)
    if (job.cpus_per_ps != job.cpus_per_worker)
      throw std::runtime_error(fmt::format("job {} would have to be a hetjob, which nobody emulates", job.id));
  write_text(options.csv, csv_text(workload));
  write_text(options.commands, command_text(workload, cluster, options.speedup));
  return 0;
}

} // namespace harmony
