// What a job moves in one step, and over which resources of the cluster: the way from where its tasks are to bytes. It
// knows nothing of other jobs. Plain values; the function may be called from any thread.
#pragma once

#include "src/sim/truth/contention.h"
#include "src/sim/truth/job_type.h"
#include "src/sim/truth/node_resources.h"
#include "src/sim/truth/truth.h"

#include <vector>

namespace harmony {

// Both ways of a link have the same capacity; the bytes are those of the busier way.
struct Use {
  int resource = 0;
  double input_mb = 0, exchange_mb = 0; // per step
  double stretch = 1;                   // of exchanging, for what the type cannot make of a network card
  double weight = 1;                    // tasks that use it

  double megabytes() const { return input_mb + exchange_mb; }
};

struct Traffic {
  std::vector<Use> uses; // a resource once, ascending
  double units = 0;
  double compute_s = 0;      // on the slowest GPU
  double prepare_s = 0;      // of input, on the node with the fewest cores a task
  double own_exchange_s = 0; // over what nobody shares: GPUs' own links, NVLinks, cores of PS
  double latency_s = 0;      // of the exchange
  double hidden_s = 0;       // part of the exchange that computing hides
  double steps_per_epoch = 1;

  // How long a step takes at least, whatever the capacities.
  double shortest_step_s() const { return compute_s > prepare_s ? compute_s : prepare_s; }
  // MB/s that it would move at that pace.
  double demand(const Use &use) const { return use.megabytes() / shortest_step_s(); }
  // With levels as many as uses: MB/s that it gets of each.
  double step_s(const std::vector<double> &levels) const;
  double speed(double step) const { return units / (step * steps_per_epoch); }
};

Traffic find_traffic(const JobType &type, const Occupant &job, const std::vector<NodeResources> &nodes,
                     const Capacities &capacities);

} // namespace harmony
