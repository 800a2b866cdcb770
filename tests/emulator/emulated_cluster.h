// What every part of the emulator agrees on: the cluster of a scenario, with the names that the private Slurm cluster
// has for its nodes, and the rules that say how fast a gang goes. For one thread.
#pragma once

#include "src/sim/best_place.h"
#include "src/sim/input/scenario.h"
#include "src/sim/input/sim_cluster.h"
#include "src/sim/truth/job_type.h"
#include "src/sim/truth/truth.h"

#include <memory>
#include <string>

namespace harmony {

struct EmulatedCluster {
  explicit EmulatedCluster(const std::string &scenario_name); // throws std::runtime_error

  int node(const std::string &name) const; // index of n0, n1, …; -1: none such

  // What the job calls its epochs when it talks to Slurm: a minute at its best each. An epoch of a type is one of a
  // whole public dataset, of which jobs of some minutes would do less than one.
  int told_epochs(const SimJob &job);

  Scenario scenario;
  JobTypes types;
  std::unique_ptr<Truth> rules; // nothing ever runs in it
  BestPlace best;
};

double real_now_s(); // seconds since 1970, as the driver's shell counts them

} // namespace harmony
