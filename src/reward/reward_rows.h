// What the reward network sees of a job: a row for each domain that it has GPUs in (for each node, if it has none),
// with what it has there, what the node is like, and who else is there, by type. The same code makes them of a cluster,
// of a simulation and of the records of a dataset, so what a network learned from is bit for bit what it is asked
// about.
//
// A change of any column here is a new schema_version (src/encode/schema.h). For one thread.
#pragma once

#include "src/values/bits.h"
#include "src/values/topology.h"

#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

namespace harmony {

// Counts are on a logarithmic scale, log(1 + x) / log(1 + cap); the cap stands in brackets.
// clang-format off
#define HARMONY_REWARD_FEATURES(X) \
  X(workers, "workers of the job [64]") \
  X(ps, "its parameter servers [64]") \
  X(nodes, "nodes that it spans [64]") \
  X(one_node, "1: it is on one node") \
  X(model_size, "declared parameters in MB [100000]") \
  X(model_size_known, "1: they were declared") \
  X(gpus_per_worker, "GPUs here, by its workers here [16]") \
  X(turns, "workers here that take turns on one GPU, less 1 [16]: Slurm may give a node fewer GPUs than it has workers") \
  X(workers_here, "part of its workers that is here") \
  X(tasks_here, "its workers and PS here [16]") \
  X(ps_here, "part of its PS that is here") \
  X(ps_alone, "1: PS are here and no worker") \
  X(exchanged, "exchanges of its own that cross the node's network in a step [16]") \
  X(gpus_here, "part of the node's GPUs that it holds") \
  X(domains_here, "domains that those lie in, in parts of their number") \
  X(domain_held, "part of the domain's GPUs that it holds") \
  X(two_sockets, "1: they lie on several sockets") \
  X(leaving, "its exchanges that leave the domain in a step [16]: copies to PS, a ring that goes on elsewhere") \
  X(nic_near, "1: a network card is in the domain: what the node's jobs exchange passes it") \
  X(node_gpus, "GPUs of the node [16]") \
  X(nic_speed, "its network cards together, Mbit/s [400000]; 0 if unknown") \
  X(gpu_speed, "how fast the slowest of its GPUs here computes, by published figures, in parts of four V100") \
  X(tenants, "other jobs on the node [16]") \
  X(distributed, "distributed ones among them [8]") \
  X(gpus_beside, "part of the node's GPUs that they hold") \
  X(domain_beside, "part of the domain's GPUs that they hold")

// Once for "unknown" and each type that the network knows.
#define HARMONY_REWARD_BY_TYPE(X) \
  X(me, "1: it is of this type") \
  X(beside, "part of the node's GPUs that others of this type hold (of 8 workers, without GPUs)") \
  X(same_domain, "part of the domain's GPUs that they hold") \
  X(same_socket, "part of the node's GPUs that they hold on the domain's socket") \
  X(leaves, "their exchanges that leave the domain in a step, in parts of 8") \
  X(sockets, "those of them whose GPUs lie on several sockets, in parts of 8") \
  X(crossing, "their exchanges that cross the node's network in a step, in parts of 8") \
  X(servers, "their PS here, in parts of 8") \
  X(jobs, "others of this type on any of its nodes, in parts of 8")
// clang-format on

#define HARMONY_COLUMN(name, meaning) name,
namespace reward_column {
enum Column { HARMONY_REWARD_FEATURES(HARMONY_COLUMN) count };
}
namespace reward_group {
enum Group { HARMONY_REWARD_BY_TYPE(HARMONY_COLUMN) count };
}
#undef HARMONY_COLUMN

// Columns for so many types, "unknown" among them.
constexpr int reward_width(int types) { return reward_column::count + reward_group::count * types; }
constexpr int reward_column_of(reward_group::Group group, int type, int types) {
  return reward_column::count + group * types + type;
}

// Rows of which most values are 0: column and value of the others, ascending.
struct SparseRows {
  std::vector<std::pair<int, float>> entries;
  std::vector<std::size_t> ends; // of each row

  int count() const { return static_cast<int>(ends.size()); }
  std::size_t begin(int row) const { return row ? ends[static_cast<std::size_t>(row) - 1] : 0; }
  std::size_t end(int row) const { return ends[static_cast<std::size_t>(row)]; }
  void clear() {
    entries.clear();
    ends.clear();
  }
};

struct RewardJob {
  int type = 0; // index; 0: unknown
  int workers = 0, ps = 0, nodes = 0;
  double model_kb = 0; // 0: not declared
};

// Another job on a node.
struct RewardTenant {
  std::uint64_t job = 0; // tells jobs apart
  int type = 0;
  bool distributed = false;
  int workers = 0, ps = 0; // here
  const Bits *gpus = nullptr;
  int workers_all = 0, ps_all = 0; // on all its nodes
};

// One of the job's nodes.
struct RewardPlace {
  const Topology *topology = nullptr; // nullptr: not known
  int node_gpus = 0;
  int workers = 0, ps = 0; // of the job
  Bits gpus;               // its own
  std::vector<RewardTenant> beside;
};

class RewardEncoder {
public:
  explicit RewardEncoder(int types) : types_(types), by_type_(static_cast<std::size_t>(types * reward_group::count)) {}

  int types() const { return types_; }
  int width() const { return reward_width(types_); }

  // A row for each domain of each place that is different; the job goes at the pace of the slowest. Topologies must
  // outlive the encoder, or none may take another's address.
  void append(const RewardJob &job, const std::vector<RewardPlace> &places, SparseRows &rows);

private:
  struct Layout { // what is needed of a topology, found once
    std::vector<int> domain, socket;
    std::vector<float> speed;
    std::vector<int> domain_gpus; // by domain
    std::vector<int> domain_socket;
    std::vector<bool> has_nic;
    double nic_mbps = 0;
  };
  struct Lying { // where some GPUs lie
    int all = 0, in_domain = 0, on_socket = 0;
    bool two_sockets = false;

    // How many exchanges of a job with these GPUs leave the domain: each copy to a PS; of a ring one, if it goes on.
    int leaving(bool distributed, int ps) const {
      return ps > 0 ? in_domain : in_domain > 0 && (distributed || all > in_domain) ? 1 : 0;
    }
  };
  static Lying lying(const Bits &gpus, const Layout &layout, int domain, int socket);
  const Layout *layout(const Topology *topology);
  void tell_of_place(const RewardJob &job, int gpus, const RewardPlace &place, const Layout *layout);
  void tell_of_gpus(const RewardPlace &place, const Layout &layout);
  void tell_of_domain(const RewardJob &job, const RewardPlace &place, const Layout &layout, int domain);
  void tell_of_others(const RewardPlace &place, const Layout *layout, int domain);
  void count_jobs(const std::vector<RewardPlace> &places);
  void put_row(const RewardJob &job, int first, SparseRows &rows);
  float &by_type(reward_group::Group group, int type) {
    return by_type_[static_cast<std::size_t>(group * types_ + type)];
  }

  const int types_;
  std::unordered_map<const Topology *, Layout> layouts_;
  std::vector<float> by_type_; // of the row that is being made
  float own_[reward_column::count] = {};
  std::vector<std::uint64_t> seen_;         // jobs
  std::vector<std::pair<int, float>> jobs_; // column in by_type_ and count
  std::vector<int> my_domains_;             // of the place that is being told of
};

} // namespace harmony
