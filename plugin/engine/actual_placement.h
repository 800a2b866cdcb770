// Where a job really is, from its record. Under slurmctld's job lock.
#pragma once

#include "plugin/slurm_version.h"

#include "src/plan/decision_log.h"
#include "src/values/plan.h"

#include <vector>

namespace harmony {

std::vector<ActualNode> actual_nodes(const job_record_t &job);

// Whether the job has exactly the planned nodes and GPUs.
bool follows(const job_record_t &job, const std::vector<Placement> &placements);

} // namespace harmony
