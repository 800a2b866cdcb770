// What scenarios are made of. Used by src/sim/scenario*.cpp and their test.
#pragma once

#include "src/sim/input/job_mix.h"
#include "src/sim/input/sim_cluster.h"

#include <string>
#include <vector>

namespace harmony {

// Log-normal: the natural logarithm of the seconds has this mean and this standard deviation. What falls outside of
// least to most is drawn again.
struct Durations {
  double log_mean = 7.5, log_deviation = 1;
  double least_s = 300, most_s = 21600;
};

enum class Arrivals {
  poisson,  // independently
  philly,   // in bursts, by the hour of the day
  doubling, // as philly, but twice as many an hour in the second half of the time as in the first
};

struct ScenarioMix {
  std::string name;
  std::string about;
  std::vector<NodeGroup> groups;
  TypeMix types;
  SizeMix workers;
  double with_ps = 0.3; // part of the jobs of at least `ps_from` workers that has PS
  int ps_from = 2;
  int workers_per_ps = 4;       // but one PS at least
  int cpus_per_task = 4;        // of workers and PS alike, so that a job is one component
  Durations of_one, of_several; // by the number of workers
  Arrivals arrivals = Arrivals::poisson;
  int jobs = 600;
  double natural_load = 0.7;
  double natural_gap_s = 0; // above 0: the mean time between arrivals counts instead
};

// In the order of the manual.
const std::vector<ScenarioMix> &scenario_mixes();

// When each of so many jobs arrives: ascending, the first at 0, the last at `end_s`.
std::vector<double> arrival_times(Arrivals arrivals, int jobs, double end_s, std::uint64_t seed);

} // namespace harmony
