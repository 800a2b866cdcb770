// A simulated job as the planner sees it.
#pragma once

#include "src/sim/truth/job_type.h"
#include "src/sim/input/sim_job.h"
#include "src/values/gang.h"

#include <ctime>

namespace harmony {

// Trace time 0 as the planner's clock has it: any day will do, as long as it is far from 0, which means "never" there.
constexpr std::time_t trace_begin = 1000000000;

// One component where workers and PS ask for the same number of CPUs, else one a role, as Slurm has it.
Gang gang_of(const SimJob &job, const JobTypes &types, int nodes, double time_limit_s);

} // namespace harmony
