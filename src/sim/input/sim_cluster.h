// The cluster of a simulation: its nodes as they are when nothing runs. Files are not trusted. For one thread.
#pragma once

#include "src/values/snapshot.h"

#include <string>
#include <vector>

namespace harmony {

struct SimCluster {
  std::string name;               // of the scenario or the file
  std::vector<NodeState> nodes;   // usable, all free
  std::vector<std::string> racks; // by node; for people

  int gpus() const;
};

constexpr int most_sim_nodes = 100000;
constexpr int most_nic_mbps = 10000000;

struct NodeGroup {
  std::string name = "n"; // nodes are named NAME0, NAME1, …
  int count = 1;
  std::string topology = "pcie8"; // a profile, a compact form, or the path of an hwloc XML
  std::string gpu;                // another GPU model than the topology's; empty: as it is
  int nic_mbps = 0;               // another speed of its network cards; 0: as it is
  std::string rack;
};

// Nodes of a group share one Topology. Throws std::runtime_error, which names the group.
void add_group(SimCluster &cluster, const NodeGroup &group);

// {"name": "ours", "groups": [{"name": "a", "count": 16, "topology": "dgx1", "gpu": "v100", "nic_mbps": 25000,
// "rack": "r1"}]}. The name is the file's if it is left out; what a group leaves out is the default above. XML paths
// are relative to the file. Throws std::runtime_error with the file and the group.
SimCluster read_cluster(const std::string &path);

} // namespace harmony
