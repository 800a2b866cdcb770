// How fast a job could go at best: alone, at the best of the places that the planner knows of. What slowdowns are
// measured against, and how the work of jobs is found that are given by their duration. For one thread.
#pragma once

#include "src/plan/cluster.h"
#include "src/sim/truth/job_type.h"
#include "src/sim/input/sim_cluster.h"
#include "src/sim/input/sim_job.h"
#include "src/sim/truth/truth.h"

#include <map>
#include <memory>
#include <string>
#include <tuple>

namespace harmony {

// The best that the gang could have alone, were the cluster empty: of the places that the planner finds, on each GPU
// model, with its GPUs close together and spread over the domains of a node. `nodes`: the fewest that hold it; 0 if
// none do.
struct BestAlone {
  double speed = 0; // epochs a second
  int nodes = 0;
};
BestAlone best_alone(const Cluster &cluster, const Gang &gang, const Truth &truth);

class BestPlace {
public:
  // They must outlive it; nothing runs in the truth.
  BestPlace(const SimCluster &cluster, const JobTypes &types, const Truth &truth)
      : cluster_(cluster), types_(types), truth_(truth) {}

  // Epochs a second. Throws std::runtime_error if the cluster could never hold it.
  double speed(const SimJob &job);

  // How long it runs at best, and the work that is.
  double seconds(const SimJob &job) { return job.epochs > 0 ? job.epochs / speed(job) : job.duration_s; }
  double epochs(const SimJob &job) { return job.epochs > 0 ? job.epochs : job.duration_s * speed(job); }

private:
  double find(const SimJob &job) const;

  const SimCluster &cluster_;
  const JobTypes &types_;
  const Truth &truth_;
  using Shape = std::tuple<std::string, int, int, int, int, int, std::string>;
  std::map<Shape, double> known_;
};

} // namespace harmony
