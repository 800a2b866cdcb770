// `harmony explain JOBID`: what was decided for a job, why, and what became of it.
#pragma once

#include <string>

namespace harmony {

struct ExplainOptions {
  std::string job; // 17, 17_3 or 17+1
  bool json = false;
};

// The exit code: 0 explained, 1 slurmctld does not answer, or the asker may not know, or nothing is known of the job,
// 2 wrong usage, 3 the overlay is not loaded. Errors go to stderr as `harmony explain: ...`.
//
// Asks the engine on slurmctld's host. Elsewhere, or if the engine knows nothing, it prints the short text that
// slurmctld keeps in the job's SystemComment.
int explain(const ExplainOptions &options);

} // namespace harmony
