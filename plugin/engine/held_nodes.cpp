#include "plugin/slurm_version.h"

#include "plugin/engine/held_nodes.h"

#include <algorithm>

namespace harmony {
namespace {

// How its tasks on a node are shared between the roles: GPUs are with workers; without any the first tasks are, of
// which so many are left.
void share_roles(const RunningCopy &job, int tasks, int gpus_per_worker, int &workers_left, HeldOn &held) {
  held.workers = job.ps && gpus_per_worker ? std::min(tasks, held.gpus.count() / gpus_per_worker)
                                           : std::min(tasks, std::max(0, workers_left));
  workers_left -= held.workers;
  held.ps = tasks - held.workers;
}

// Its cores on a node with so many, of which the first is the `first` of all the cores of its nodes.
Bits cores_from(const RunningCopy &job, int first, int count) {
  Bits cores(count);
  for (int i = 0; i < count; ++i)
    if (job.cores.test(first + i)) cores.set(i);
  return cores;
}

} // namespace

std::vector<HeldOn> held_on_nodes(const RunningCopy &job, const NodeTable::Nodes &nodes) {
  int all_tasks = 0, all_gpus = 0, first_core = 0;
  for (const int tasks : job.tasks) all_tasks += tasks;
  for (const Bits &gpus : job.gpus) all_gpus += gpus.count();
  const int workers = all_tasks > 0 ? all_tasks - job.ps : job.nodes.count();
  int workers_left = workers;
  std::vector<HeldOn> all;
  std::size_t at = 0;
  for (const int node : each(job.nodes)) {
    if (node >= static_cast<int>(nodes.size())) break;
    const int cores = nodes[static_cast<std::size_t>(node)].cores;
    HeldOn held;
    held.node = node;
    held.cores = cores_from(job, first_core, cores);
    first_core += cores;
    if (at < job.gpus.size()) held.gpus = job.gpus[at];
    if (at < job.memory_mb.size()) held.memory_mb = job.memory_mb[at];
    share_roles(job, at < job.tasks.size() ? job.tasks[at] : 1, all_gpus / std::max(workers, 1), workers_left, held);
    all.push_back(std::move(held));
    ++at;
  }
  return all;
}

} // namespace harmony
