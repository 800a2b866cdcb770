#include "src/sim/sim_gang.h"

#include <algorithm>
#include <cmath>

namespace harmony {
namespace {

Component component_of(const SimJob &job, int workers, int ps, int cpus, int nodes) {
  Component made;
  made.job = job.id;
  made.workers = workers;
  made.ps = ps;
  made.cpus_per_task = cpus;
  made.gpus.per_job = workers * job.gpus_per_worker;
  made.gpus.model = job.gpu;
  made.eligible = Bits(nodes);
  made.eligible.set_all();
  made.required = Bits(nodes);
  return made;
}

} // namespace

Gang gang_of(const SimJob &job, const JobTypes &types, int nodes, double time_limit_s) {
  Gang gang;
  gang.job = job.id;
  gang.user = job.user;
  gang.type = job.type;
  gang.epochs = static_cast<std::uint32_t>(std::clamp(std::ceil(job.epochs), 1.0, 1e9));
  if (types.knows(job.type))
    gang.model_kb = static_cast<std::uint32_t>(std::clamp(types.of(job.type).parameters_mb * 1024, 1.0, 4e9));
  gang.priority = static_cast<std::uint64_t>(std::max(0.0, job.priority));
  gang.submitted = gang.eligible_since = trace_begin + static_cast<std::time_t>(std::floor(job.submit_s));
  gang.time_limit_min = static_cast<std::uint32_t>(std::clamp(std::ceil(time_limit_s / 60), 1.0, 1e7));
  if (job.ps == 0 || job.cpus_per_ps == job.cpus_per_worker) {
    gang.components.push_back(component_of(job, job.workers, job.ps, job.cpus_per_worker, nodes));
  } else {
    gang.components.push_back(component_of(job, job.workers, 0, job.cpus_per_worker, nodes));
    gang.components.push_back(component_of(job, 0, job.ps, job.cpus_per_ps, nodes));
  }
  return gang;
}

} // namespace harmony
