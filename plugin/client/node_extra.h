// A node's Extra field, over Slurm's own authenticated RPC. Free of Slurm's headers, so that src/tool may include it.
#pragma once

#include <string>

namespace harmony {

struct NodeExtra {
  std::string extra;
  std::string problem;    // empty on success
  bool try_again = false; // slurmctld did not answer; it may later
};

// The name that slurm.conf has for the node on this host (NodeHostname=); the host's own if it has none.
std::string node_on_host(const std::string &host);

NodeExtra read_node_extra(const std::string &node);

// Sets the field; slurmctld lets root, SlurmUser and operators do that.
NodeExtra write_node_extra(const std::string &node, const std::string &extra);

} // namespace harmony
