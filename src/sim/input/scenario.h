// The scenarios by name: a cluster, a mix of jobs and how they arrive. What is in them is in scenarios.cpp. For one
// thread.
#pragma once

#include "src/sim/input/sim_cluster.h"
#include "src/sim/input/sim_job.h"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace harmony {

struct Scenario {
  std::string name;
  std::string about; // one line for --help and reports
  SimCluster cluster;
};

// In the order of the manual.
std::vector<std::string> scenario_names();

// Throws std::runtime_error for a name that is not known, with those that are.
Scenario make_scenario(const std::string &name);

// So many jobs of the scenario's mix (0: its own number), arriving at the given load (0: as they come by themselves):
// the part of the cluster's GPU time, from the first to the last arrival, that the jobs would take if each ran at its
// best. Their work is given as duration_s. The same seed gives the same jobs.
Workload scenario_jobs(const Scenario &scenario, double load, int jobs, std::uint64_t seed);

// Moves the arrivals closer or apart until the jobs load the cluster so. `best_s` tells how long a job runs at its
// best. Jobs that all arrive at once stay as they are. Throws std::runtime_error for a load that is not above 0.
void set_load(Workload &workload, const SimCluster &cluster, double load,
              const std::function<double(const SimJob &)> &best_s);

} // namespace harmony
