// The linear interference rule: how much jobs that share a node slow each other down, as a sum of terms. Policies that
// need more than that learn it; this is what the simple ones and `harmony explain` go by.
#pragma once

#include "src/plan/cluster.h"
#include "src/values/gang.h"
#include "src/values/plan.h"

#include <string>
#include <vector>

namespace harmony {

// Parts of a job's speed. Assumed, to be replaced by fitted ones; only their order is certain.
struct InterferenceRates {
  double same_domain = 0.06;  // a neighbour's worker below the same PCIe switch (or bridge without one)
  double same_socket = 0.02;  // a neighbour's worker below another domain of the same host bridge or socket
  double same_nic = 0.10;     // another distributed job on the node, if this one is distributed, too
  double cores = 0.10;        // others have all cores of the node; in proportion if fewer
  double across_nodes = 0.20; // all traffic crosses nodes; in proportion if less
  double slowest = 0.05;      // no prediction is below
};

// What a job meets on its worst node, to be weighed by rates: the same rule with the rates left out.
struct InterferenceTerms {
  double same_domain = 0;  // neighbours' workers below the same domain as the worker that has it worst
  double same_socket = 0;  // those below another domain of the same host bridge or socket
  double same_nic = 0;     // other distributed jobs, if this one is distributed
  double cores = 0;        // part of the node's cores that others have
  double across_nodes = 0; // part of the traffic that crosses nodes
};

// Which node is the worst depends on the rates. `except_running` (index into Snapshot::running) is left out of the
// neighbours: the job itself, where the cluster has started it already; -1: none.
InterferenceTerms interference_terms(const Cluster &cluster, const Plan &plan, int except_running = -1,
                                     const InterferenceRates &rates = {});

// A job that has tasks on the plan's nodes, without and with the gang beside it. Its worst node is sought among the
// plan's, since what it meets elsewhere stays as it is.
struct NeighbourTerms {
  const Running *job = nullptr;
  InterferenceTerms before, after;
};
std::vector<NeighbourTerms> neighbour_terms(const Cluster &cluster, const Plan &plan,
                                            const InterferenceRates &rates = {});

// The speed that these terms leave.
double speed_by(const InterferenceTerms &terms, const InterferenceRates &rates = {});

// The gang's speed under the plan, relative to running alone on one node: in (0, 1]. It goes at the pace of its slowest
// node. The cluster must not have started it yet.
double predicted_speed(const Cluster &cluster, const Gang &gang, const Plan &plan, const InterferenceRates &rates = {});

// The speed on so many nodes without any neighbours.
double speed_alone(int nodes, const InterferenceRates &rates = {});

// The speed that the jobs beside it lose, summed over those jobs.
double harm(const Cluster &cluster, const Gang &gang, const Plan &plan, const InterferenceRates &rates = {});

// Those jobs, node by node: "n1: job 17 (vgg16) 2+1, same PCIe switch". At most 8, then "and 3 more".
std::vector<std::string> neighbours(const Cluster &cluster, const Plan &plan);

} // namespace harmony
