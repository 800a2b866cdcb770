// What really happened on a live cluster, in the form in which the simulator tells it: the log of the world is gone
// through again by the same truth, so that usage and the map are those of a simulation. For one thread.
#pragma once

#include "src/sim/result.h"
#include "src/sim/input/sim_job.h"
#include "tests/emulator/gang_events.h"

#include <map>
#include <string>
#include <vector>

namespace harmony {

// Real seconds of submissions, since 1970, by the job's id in the workload. Throws std::runtime_error.
std::map<std::uint32_t, double> read_submissions(const std::string &path);

// Throws std::runtime_error if a job did not run to its end, ran twice, or ended at another moment than the truth says.
SimResult live_result(EmulatedCluster &cluster, const Workload &workload,
                      const std::map<std::uint32_t, double> &submissions, const std::vector<GangEvent> &events,
                      double speedup);

// Mean real seconds that Slurm itself took, of the probe (workload.h).
struct SlurmTimes {
  double launch_s = 0;      // from sbatch to the whole gang, nothing else to wait for
  double turn_around_s = 0; // from the end of one gang to the next whole one that wanted its place
};
SlurmTimes slurm_times(const std::map<std::uint32_t, double> &submissions, const std::vector<GangEvent> &events);

} // namespace harmony
