// The sruns of a gang as processes: started together, signals passed on to their tasks, ended together. One thread, one
// call; signals are blocked while it runs.
#pragma once

#include "src/run/gang_layout.h"
#include "src/run/srun_step.h"

#include <optional>
#include <string>
#include <vector>

namespace harmony {

struct GangStep {
  Role role = Role::worker;
  SrunStep srun;
};

// Runs them to their end and returns the gang's exit code, by the rule of run_gang.
int run_steps(unsigned long job_id, const std::vector<GangStep> &steps);

// What a command prints; nothing if it fails. quiet keeps its complaints from stderr.
std::optional<std::string> output_of(const std::vector<std::string> &arguments, bool quiet = false);

} // namespace harmony
