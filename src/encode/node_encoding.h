// A node as every gang meets it: what is free and how it is broken up, and what its jobs load. Nodes with equal
// encodings are one state, and are scored once.
#pragma once

#include "src/plan/cluster.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

namespace harmony {

// Which index a job's type has in a model; 0: unknown.
class TypeIndex {
public:
  explicit TypeIndex(const std::vector<std::string> &types);
  int of(const std::string &type) const;
  int count() const { return static_cast<int>(index_.size()) + 1; }

private:
  std::unordered_map<std::string, int> index_;
};

struct DomainEncoding {
  int domain = 0; // index into Topology::domains
  int gpus = 0;
  int free = 0;
  float pcie_load = 0;
  float bridge_load = 0;
  bool operator==(const DomainEncoding &other) const;
};

struct NodeEncoding {
  int gpus = 0;
  int free_gpus = 0;
  int cores = 0;
  int held_cores = 0; // by other jobs
  int tenants = 0;
  int distributed = 0;
  int next_end = 32; // in 32nds of the feature
  int weight = 1;
  int mixed_models = 0; // GPUs of several models
  float link_load = 0;
  float nic_load = 0;
  float disk_load = 0;
  float nic_mbps = 0;
  std::vector<DomainEncoding> domains; // those with GPUs; none if the topology does not tell
  std::vector<float> types;            // GPUs (or cores) held by type: the node's, then each domain's
  bool operator==(const NodeEncoding &other) const;
};
std::size_t hash_of(const NodeEncoding &encoding);

// What the encoder needs of a topology, found once.
struct TopologyLayout {
  std::vector<int> domains;    // those with GPUs
  std::vector<int> bridge;     // of each of those: its place among the host bridges
  std::vector<int> gpu_domain; // of each GPU: place in `domains`
  std::vector<int> gpu_socket;
  int bridges = 0;
  int sockets = 1;
  double nic_mbps = 0;
};
TopologyLayout layout_of(const Topology &topology);

// What a job means to its neighbours.
struct JobLoad {
  int type = 0;
  bool distributed = false;
  double exchanged = 0; // by one task in a step, in units of a large model
  double by_ps = 0;     // a PS has all workers' exchanges to carry: its share of them
  std::time_t ends = 0;
};

// For one thread.
class NodeEncoder {
public:
  explicit NodeEncoder(const TypeIndex &types) : types_(types), count_(static_cast<std::size_t>(types.count())) {}
  const NodeEncoding &encode(const Cluster &cluster, int node); // valid until the next call

private:
  const TopologyLayout *layout(const NodeState &node);
  void begin(const NodeState &node, const TopologyLayout *layout);
  const JobLoad &load_of(const Cluster &cluster, const Tenant &tenant);
  void add_tenant(const NodeState &node, const Tenant &tenant, const JobLoad &job, const TopologyLayout *layout);
  void add_gpus(const Tenant &tenant, const TopologyLayout &layout, const JobLoad &job);

  const TypeIndex &types_;
  const std::size_t count_;                // of types
  std::vector<JobLoad> running_, planned_; // those met so far, by index; type -1: not yet
  std::unordered_map<const Topology *, TopologyLayout> layouts_;
  NodeEncoding encoding_;
  std::vector<double> pcie_, bridge_; // loads, by place
  std::vector<int> on_socket_;
};

} // namespace harmony
