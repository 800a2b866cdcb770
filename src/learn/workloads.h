// Workloads made of the jobs that a dataset saw: drawn again and again, arriving as they did, at the load that is
// wanted. The same seed gives the same jobs. Pure functions.
#pragma once

#include "src/learn/training_data.h"

#include <cstdint>
#include <vector>

namespace harmony {

// The jobs of a cluster, told apart by time: those that are trained on, and the last part, which is judged by. With
// too few jobs both are all of them.
struct JobSplit {
  std::vector<SimJob> train, held_out;
  bool apart = true;
};
JobSplit split_by_time(const TrainingCluster &cluster, double held_out = 0.25);

// The part of the cluster's GPU time that these jobs asked for while they arrived; 0 if that cannot be said.
double load_of(const std::vector<SimJob> &jobs, const SimCluster &cluster);

// How many jobs show what a policy does to the queue of a cluster: enough for it to grow where more is asked for than
// is done, which a short workload does not punish.
int jobs_to_judge_by(const SimCluster &cluster, int most);

struct WorkloadOptions {
  int jobs = 150;
  double load = 0.8;
  std::uint64_t seed = 1;
};
// Jobs that could never run on the cluster are not drawn; none left: throws std::runtime_error.
Workload make_workload(const SimCluster &cluster, const std::vector<SimJob> &jobs, const WorkloadOptions &options);

} // namespace harmony
