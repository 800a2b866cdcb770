// Makes the jobs of a live comparison: our own CSV for the simulator and the world, and what sbatch is told of each.
// The same options give the same bytes. For one thread.
#pragma once

#include <cstdint>
#include <string>

namespace harmony {

struct WorkloadOptions {
  std::string scenario, csv, commands;
  int jobs = 40;
  double load = 0.9, speedup = 1, limit_factor = 3;
  std::uint64_t seed = 1;
  bool probe = false; // a few jobs that measure what Slurm itself takes, in place of the scenario's
};

// One line a job in `commands`: its id, the real seconds from the beginning to its submission, what sbatch is told
// anyway, a |, and what it is told if slurmctld has the overlay. Throws std::runtime_error.
int make_workload(const WorkloadOptions &options);

} // namespace harmony
