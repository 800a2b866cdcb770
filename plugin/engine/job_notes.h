// What we leave in a job's record for those who run it: a short word in SystemComment, which any host can read with
// scontrol and `harmony explain`, and HARMONY_PLAN in its environment, which `harmony run` reads. Under slurmctld's job
// write lock.
#pragma once

#include "plugin/slurm_version.h"

#include <string>

namespace harmony {

// Replaces our own word ("harmony: …") and keeps whatever else stands there.
void note_in_comment(job_record_t &job, const std::string &word);

// Sets or, if `plan` is empty, removes HARMONY_PLAN.
void note_in_environment(job_record_t &job, const std::string &plan);

} // namespace harmony
