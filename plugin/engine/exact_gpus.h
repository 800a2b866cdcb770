// Puts the plan's GPUs in the place of those that stock chose, after job_test said that the job can start and before
// slurmctld allocates them.
#pragma once

#include "plugin/slurm_version.h"

#include "src/values/plan.h"

#include <string>
#include <vector>

namespace harmony {

// Empty if done (or if there is nothing to do); else why the planned GPUs cannot be had, and stock's choice stands.
std::string choose_exact_gpus(job_record_t &job, const std::vector<Placement> &placements);

} // namespace harmony
