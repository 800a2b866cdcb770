// `harmony progress`: a job's owner tells from inside the job how far it has come.
#pragma once

#include <CLI/CLI.hpp>

#include <optional>
#include <string>

namespace harmony {

struct ProgressCommand {
  std::string epoch, of, samples_per_s, loss; // as they were given; empty: not
  std::string job;                            // empty: the one that this runs in
  bool any_task = false, wait = false, quiet = false;
};

CLI::App *add_progress(CLI::App &app, ProgressCommand &command);

// The exit code: 0 reported, merged or not this task's to report; 1 slurmctld does not answer or refuses; 2 wrong
// usage. Problems go to stderr as `harmony progress: ...`, in one line.
int run_progress(const ProgressCommand &command);

} // namespace harmony
