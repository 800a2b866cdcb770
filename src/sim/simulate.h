// The simulation itself: a clock, a queue as Slurm has it, planning rounds by the planner of slurmctld, and jobs that
// go as fast as the ground truth lets them. The same input gives the same result, to the byte. For one thread.
#pragma once

#include "src/plan/planner.h"
#include "src/sim/best_place.h"
#include "src/sim/progress.h"
#include "src/sim/result.h"
#include "src/sim/input/sim_cluster.h"
#include "src/sim/input/sim_job.h"
#include "src/sim/truth/truth.h"
#include "src/values/settings.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace harmony {

enum class QueueOrder {
  submit,   // first come, first served
  priority, // the trace's priorities, then by submit time
  shortest, // least time at its best first
};
const char *order_name(QueueOrder order);

// Variation that no placement explains: standard deviations of the logarithm of a speed.
struct Noise {
  double worker = 0; // of each worker; the slowest sets the pace
  double epoch = 0;  // of each epoch
};

struct SimOptions {
  Settings settings; // MaxWait counts
  QueueOrder order = QueueOrder::submit;
  double interval_s = 0;   // rounds are at multiples of it; 0: at once when a job arrives or ends
  int depth = 500;         // gangs looked at in a round, as bf_max_job_test
  double limit_factor = 3; // time limits of jobs that have none, in times of how long they run at best
  double launch_s = 0;     // from the decision until a gang is whole and works; it holds its place meanwhile
  double release_s = 0;    // from its end until its place is free for others
  Noise noise;
  std::uint64_t seed = 1;
  bool undisturbed = false; // every job goes at its best wherever it is: the bound
  bool time_decisions = false;
  std::size_t usage_moments = 300;
  std::size_t map_frames = 0;
};

// One round: decisions for the first gangs of the snapshot, in their order, until it is told to stop.
using PlanRound = std::function<RoundResult(const Snapshot &, std::uint64_t round, const std::function<bool()> &stop)>;

// By an ordinary policy, which must outlive it.
PlanRound rounds_of(const Policy &policy, const Settings &settings);

// Is told what happens, in the order of time.
class SimWatcher {
public:
  virtual ~SimWatcher() = default;
  // The snapshot is as it is now, in all of these. Jobs whose speed changes with a start or an end are told before it.
  // `speed` is what it begins with, `best` what it could have alone.
  virtual void started(const SimJob &, const Gang &, const Plan &, const Snapshot &, double now, double speed,
                       double best) {
    (void)now, (void)speed, (void)best;
  }
  // A job went at one speed until now, and goes at another from now on, or has ended.
  virtual void went(const SimJob &, const Progress::Change &, const Snapshot &, double now, bool ended) {
    (void)now, (void)ended;
  }
  virtual void at(double, std::size_t, std::size_t) {} // the time, jobs that ended, and all
};

struct SimInput {
  const SimCluster &cluster;
  const JobTypes &types;
  const Workload &workload;
  const Truth &truth; // nothing runs in it
  BestPlace &best;
};

// Throws std::runtime_error if a job can never run.
SimResult simulate(const SimInput &input, const PlanRound &plan, const SimOptions &options,
                   SimWatcher *watcher = nullptr);

} // namespace harmony
