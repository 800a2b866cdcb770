// A node's Extra field, over Slurm's own authenticated RPC. Free of Slurm's headers, so that src/tool may include it.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace harmony {

struct NodeExtra {
  std::string extra;
  std::string problem;    // empty on success
  bool try_again = false; // slurmctld did not answer; it may later
};

// The name that slurm.conf has for the node on this host (NodeHostname=); the host's own if it has none.
std::string node_on_host(const std::string &host);

NodeExtra read_node_extra(const std::string &node);

// Reads the field and sets it to what `change` makes of it; nothing is sent if that is the same. Slurm has no such call
// of its own, and the topology and the ends of steps may meet, so a lock is held all the while against others of this
// user's on this host. slurmctld lets root, SlurmUser and operators set the field.
NodeExtra change_node_extra(const std::string &node, const std::function<std::string(std::string_view extra)> &change);

} // namespace harmony
