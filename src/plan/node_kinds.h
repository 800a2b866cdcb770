// Nodes in numbers, for looking at a whole large cluster: most of its nodes are alike, so each is of a kind, and what
// has been found out for one node of a kind goes for all of them.
#pragma once

#include "src/values/snapshot.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

namespace harmony {

// All that counts of a node, but for what its free memory is to the MB.
struct NodeKind {
  // Instead of the index of the model that all of its GPUs are of.
  static constexpr int no_model = -1;   // its GPUs have no names
  static constexpr int odd_models = -2; // several models, or lost GPUs: look at the node itself

  std::uint64_t memory_mb = 0;
  int free_memory = 0; // in 64ths of the node's
  int cores = 0;
  int free_cores = 0;
  int tenants_cores = 0;
  int gpus = 0;
  int free_gpus = 0;
  int model = no_model;
  int threads_per_core = 1;
  int weight = 1;
  bool usable = false;
  bool whole_taken = false;
  bool shared = false;      // it has tenants
  bool distributed = false; // one of them is on several nodes

  // Bounds of the free memory that nodes of the kind have.
  std::uint64_t least_free_memory_mb() const;
  std::uint64_t most_free_memory_mb() const;

  bool operator==(const NodeKind &other) const;
};

// In 64ths: nodes need not agree to the MB to be alike.
int free_memory_part(std::uint64_t free_mb, std::uint64_t all_mb);

// The kinds of a cluster's nodes, kept while nodes change. For one thread.
class NodeKinds {
public:
  void add(const NodeState &node, bool distributed);
  void change(int node, const NodeState &to, bool distributed);

  const std::vector<int> &of_nodes() const { return of_nodes_; }
  const NodeKind &kind(int index) const { return kinds_[static_cast<std::size_t>(index)]; }
  // Every kind's index is below; some have no nodes any more.
  std::size_t size() const { return kinds_.size(); }

  // The index of a GPU model in NodeKind::model; one that no node has is not that of any kind.
  int model(const std::string &name) const;

private:
  struct Hash {
    std::size_t operator()(const NodeKind &kind) const;
  };
  int enter(const NodeState &node, bool distributed);
  int model_of(const NodeState &node);

  std::vector<int> of_nodes_;
  std::vector<NodeKind> kinds_;
  std::vector<int> nodes_;  // of each kind, how many
  std::vector<int> unused_; // kinds without nodes
  std::unordered_map<NodeKind, int, Hash> index_;
  std::vector<std::string> models_;
};

} // namespace harmony
