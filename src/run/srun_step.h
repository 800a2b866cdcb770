// The srun that starts one role of a gang, and what its messages say of the tasks. Pure.
#pragma once

#include "src/run/gang_layout.h"

namespace harmony {

struct SrunStep {
  std::vector<std::string> arguments; // srun and its options; the tasks' command follows
  std::string name;                   // the step's, by which squeue finds it
};

// tag makes the step's name unique among those of the job.
SrunStep srun_step(const GangLayout &layout, const JobFacts &job, Role role, const std::string &tag);

// What srun would take from the job's own environment in place of what srun_step says.
bool misleads_srun(const std::string &variable);

// The exit code that a line of srun's stderr reports for some task, 128 + signal for one that died of it; 0 for any
// other line. srun's own exit code is the highest of all tasks', which after --kill-on-bad-exit is that of the tasks
// that srun killed.
int reported_failure(const std::string &line);

} // namespace harmony
