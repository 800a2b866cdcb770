// `harmony status`: is the overlay really loaded, and what is it doing? Slurm falls back to its own plugins without a
// word when ours does not suit it, so this is the one place that says so aloud.
#pragma once

#include "src/values/controller_report.h"

#include <string>

namespace harmony {

// Also the exit code of the command.
enum class Health {
  good = 0,       // both overlays loaded, mode and engine as configured
  no_answer = 1,  // slurmctld could not be asked
  not_loaded = 3, // slurmctld runs a stock plugin
  degraded = 4,   // loaded, but everything is left to stock although slurm.conf asks for more
};

struct Status {
  Health health = Health::no_answer;
  // What is wrong and what to do; empty if all is well. A refused harmony.conf, and a model that does not decide, are
  // said here too, but leave the health good: the last good settings are in force, or the heuristic plans.
  std::string advice;
};

// `our_dir` is where this build's overlay is installed, `built_for` the Slurm version it was built for.
Status judge(const ControllerReport &report, const std::string &our_dir, const std::string &built_for);

std::string status_text(const ControllerReport &report, const Status &status);
std::string status_json(const ControllerReport &report, const Status &status);

// For the textfile collector of Prometheus' node_exporter; something to say even when slurmctld does not answer.
std::string status_prometheus(const ControllerReport &report, const Status &status);

} // namespace harmony
