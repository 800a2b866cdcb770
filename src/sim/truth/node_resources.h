// The shared resources of a node, numbered in a row: each PCIe switch and host bridge (its way up, as many as the
// topology has domains), the socket link, the memory of each socket, the disk, and in and out of each network card. A
// plain value that does not change; may be read from any thread.
#pragma once

#include "src/sim/truth/contention.h"
#include "src/values/snapshot.h"

#include <memory>
#include <vector>

namespace harmony {

class NodeResources {
public:
  // A node whose topology or network card is not known has one socket, one card of 10 Gbit/s, and no PCIe to share.
  NodeResources(const NodeState &node, int first);

  int first() const { return first_; } // number of its first resource; the functions below count from there
  int count() const { return first_nic() + 2 * nics_; }
  std::vector<double> capacities(const Capacities &capacities) const;

  int link() const { return domains_; }
  int memory(int socket) const { return link() + 1 + socket; }
  int disk() const { return memory(sockets_); }
  int nic_in(int nic) const { return first_nic() + 2 * nic; }
  int nic_out(int nic) const { return nic_in(nic) + 1; }
  bool is_nic(int resource) const { return resource >= first_nic(); }

  double speed_of_gpu(int gpu) const;
  int domain_of_gpu(int gpu) const; // -1: not known; it then is beside the memory of the first socket
  int domain_of_nic(int nic) const; // -1, too
  int domain_of_disk() const;       // -1, too
  int parent(int domain) const;     // -1: none
  int socket(int domain) const;
  bool is_below(int domain, int ancestor) const; // or the same
  int links(int gpu, int other) const;           // NVLinks between two GPUs
  bool has_links() const { return topology_ && !topology_->links.empty(); }

  // The network card nearest to the domain: below the same switch, bridge or socket, else the first.
  int nearest_nic(int domain) const;

private:
  int first_nic() const { return disk() + 1; }

  std::shared_ptr<const Topology> topology_; // may be none
  std::vector<double> gpu_speeds_;
  int first_;
  int domains_ = 0, sockets_ = 1, nics_ = 1;
};

} // namespace harmony
