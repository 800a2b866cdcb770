// A job's SystemComment, over Slurm's own authenticated RPC, from any host with a slurm.conf: slurmctld keeps a short
// text of ours there. Free of Slurm's headers, so that src/tool may include it.
#pragma once

#include <string>

namespace harmony {

struct JobComment {
  bool found = false; // there is such a job, and the asker may see it
  std::string system_comment;
  std::string problem; // why it was not found
};

// What our text in a SystemComment begins with.
constexpr const char *comment_mark = "harmony: ";

// `job_id` as people write it: 17, 17_3 or 17+1. Of a whole job array or hetjob, the first part that has a text of
// ours.
JobComment ask_job_comment(const std::string &job_id);

} // namespace harmony
