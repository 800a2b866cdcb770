// `harmony run`: starts the roles of a one-job gang from inside its batch script.
#pragma once

#include <optional>
#include <string>

namespace harmony {

struct RunOptions {
  std::string worker; // a shell command a role
  std::string ps;
  std::optional<int> ps_count; // else HARMONY_PS
  std::optional<int> port;     // the first; else derived from the job's id
  bool dry_run = false;

  // Hidden: harmony is its own launcher of tasks. The role, and the layout as one word.
  std::string task;
  std::string layout;
};

// The exit code: 0 when all workers ended with 0, 1 when the gang could not be started, 2 for wrong usage, else that of
// the task that failed first, 128 + signal for one that died of it. Errors go to stderr as `harmony run: ...`.
int run_gang(const RunOptions &options);

} // namespace harmony
