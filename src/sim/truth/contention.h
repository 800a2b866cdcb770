// The mechanistic ground truth: jobs demand PCIe, socket link, network, cores, memory bandwidth and disk, and share
// each max-min fairly.
//
// How often a job moves its bytes is reckoned as if moving them cost nothing, so that a demand depends neither on
// capacities nor on other jobs. Hence a job is never faster for a neighbour more, never slower for more bandwidth, and
// speeds depend on who runs, not on the order in which they came. For one thread.
#pragma once

#include "src/sim/truth/job_type.h"
#include "src/sim/input/sim_cluster.h"
#include "src/sim/truth/truth.h"

#include <memory>

namespace harmony {

// MB/s (10^6 bytes) in one direction, unless it says otherwise. Each with its source in contention.cpp.
struct Capacities {
  double pcie_switch = 0;        // what a PCIe switch has to the CPU, and what one GPU has
  double host_bridge = 0;        // all that is below one
  double socket_link = 0;        // between the sockets of a node
  double memory = 0;             // of a socket
  double disk = 0;               // of a node
  double nvlink = 0;             // one of them
  double network_efficiency = 1; // of a card's nominal speed
  double ps_cpu_mb_per_s = 0;    // what one core of a PS adds up
  static Capacities standard();
};

std::unique_ptr<Truth> make_contention(const SimCluster &cluster, const JobTypes &types,
                                       const Capacities &capacities = Capacities::standard());

} // namespace harmony
