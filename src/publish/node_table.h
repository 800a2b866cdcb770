// What changes seldom about every node, by slurmctld's node index: gathered at leisure, so that a snapshot needs to copy
// only what changes all the time. Published whole; any thread may read.
#pragma once

#include "src/publish/node_topology.h"
#include "src/values/bits.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace harmony {

struct NodeHardware {
  std::string name; // empty: no such node
  int cores = 0;
  int threads_per_core = 1;
  int gpus = 0;
  int weight = 1;
  std::uint64_t memory_mb = 0; // that jobs may have
  Bits specialised;            // cores that stay with the system; empty: none
  std::shared_ptr<const NodeTopology> topology;
};

class NodeTable {
public:
  using Nodes = std::vector<NodeHardware>;
  void publish(Nodes nodes) {
    std::atomic_store(&nodes_, std::shared_ptr<const Nodes>(std::make_shared<Nodes>(std::move(nodes))));
  }
  // Null until there is one.
  std::shared_ptr<const Nodes> nodes() const { return std::atomic_load(&nodes_); }

private:
  std::shared_ptr<const Nodes> nodes_;
};

} // namespace harmony
