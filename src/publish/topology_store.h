// The topologies of all nodes, as placement uses them: each is worked out once per change of what slurmctld knows, not
// per scheduling pass. One owner, one lock of its own, a leaf: nothing is called with it held.
#pragma once

#include "src/publish/node_topology.h"

#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

namespace harmony {

class TopologyStore {
public:
  // Whether this is new of the node. Cheap: for use under slurmctld's lock.
  bool is_news(const std::string &node, const std::string &published, std::uint64_t gres_signature) const;

  // Works the node's topology out anew; returns it.
  std::shared_ptr<const NodeTopology> update(const NodeFacts &facts, std::uint64_t gres_signature);

  // Forgets every node that is not named.
  void keep_only(const std::vector<std::string> &nodes);

  // The node's topology, or nullptr if the node was never seen.
  std::shared_ptr<const NodeTopology> find(const std::string &node) const;

  // How many nodes, and how many times a topology was worked out.
  struct Counts {
    std::size_t nodes = 0, published = 0, gres_conf = 0, none = 0;
    std::uint64_t updates = 0, refused = 0;
  };
  Counts counts() const;

private:
  struct Entry {
    std::string published;
    std::uint64_t gres_signature = 0;
    std::shared_ptr<const NodeTopology> topology;
  };
  mutable std::mutex mutex_;
  std::unordered_map<std::string, Entry> entries_;
  std::uint64_t updates_ = 0, refused_ = 0;
};

} // namespace harmony
