// The cluster in the model's terms: the state of every node, as an index into the distinct ones, and what the job's row
// tells of the whole. Kept up as gangs are planned: only nodes that changed are encoded again.
//
// The same snapshot gives the same features on every run and machine: nothing here depends on the order of nodes, on
// earlier snapshots or on time beyond the snapshot's own. For one thread.
#pragma once

#include "src/encode/node_encoding.h"
#include "src/values/slot_table.h"

#include <cstdint>
#include <ctime>
#include <map>
#include <set>
#include <vector>

namespace harmony {

// Of all nodes that are up.
struct ClusterTotals {
  int nodes = 0;
  int free_nodes = 0; // without any job
  int distributed_nodes = 0;
  long gpus = 0;
  long free_gpus = 0;
  long broken_gpus = 0; // free ones on nodes with jobs
  int running = 0;
  std::time_t next_end = 0; // 0: no job runs
};

// What a node's jobs load, all resources together. Nodes of the same load are told apart by what they are like, and
// only nodes alike by their numbers.
struct NodeLoad {
  float load = 0;
  std::size_t hash = 0; // of its state
  int node = 0;
  bool operator<(const NodeLoad &other) const {
    if (load != other.load) return load < other.load;
    return hash != other.hash ? hash < other.hash : node < other.node;
  }
};

class Encoder {
public:
  // The cluster must outlive it.
  Encoder(const Cluster &cluster, const TypeIndex &types);

  // Brings it up to date with what the cluster's change log tells.
  void update();

  const std::vector<int> &states() const { return states_; } // by node
  const NodeEncoding &state(int index) const { return distinct_[static_cast<std::size_t>(index)]; }
  const NodeEncoding &of_node(int node) const { return state(states_[static_cast<std::size_t>(node)]); }
  const NodeLoad &load(int node) const { return loads_[static_cast<std::size_t>(node)]; }
  const std::set<NodeLoad> &by_load() const; // all nodes
  std::size_t hash(int state) const { return table_.hash(state); }
  int distinct() const { return live_; } // states that nodes are in now
  const ClusterTotals &totals() const { return totals_; }
  const Cluster &cluster() const { return cluster_; }
  const TypeIndex &types() const { return types_; }

private:
  void encode(int node);
  int intern(const NodeEncoding &encoding);
  void count(int node, int sign);

  const Cluster &cluster_;
  const TypeIndex &types_;
  NodeEncoder node_encoder_;
  std::vector<int> states_;
  std::vector<NodeLoad> loads_;        // by node
  mutable std::set<NodeLoad> by_load_; // the same in order, once somebody asked for it
  std::vector<NodeEncoding> distinct_;
  SlotTable table_;       // of the distinct ones
  std::vector<int> uses_; // of the distinct ones: how many nodes
  int live_ = 0;
  ClusterTotals totals_;
  std::size_t changes_read_ = 0;
};

} // namespace harmony
