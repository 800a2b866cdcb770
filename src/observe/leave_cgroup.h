// Leaving the cgroups of a job. Who is started by slurmstepd is in them, would be charged to the job, killed with it,
// and would keep Slurm from clearing them away.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace harmony {

// Of the lines of /proc/self/cgroup those that are a job's: the files into which a pid is written to leave for the root
// of the hierarchy, where slurmstepd itself goes at its end. Several may be given for one, of which any does.
std::vector<std::string> ways_out_of_job(std::string_view proc_self_cgroup);

// The calling process leaves, as far as it may.
void leave_job_cgroups();

} // namespace harmony
