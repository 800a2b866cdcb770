#include "src/plan/cluster.h"

#include <algorithm>
#include <limits>
#include <map>

namespace harmony {
namespace {

// By what the placement takes, which is what Slurm counts: whole cores.
std::uint64_t memory_taken_mb(const NodeState &node, const Component &component, const Placement &placement) {
  std::uint64_t each = component.memory_per_node_mb, times = 1;
  if (component.memory_per_cpu_mb > 0) {
    each = component.memory_per_cpu_mb;
    times = static_cast<std::uint64_t>(placement.cores.count()) *
            static_cast<std::uint64_t>(std::max(node.threads_per_core, 1));
  } else if (component.memory_per_gpu_mb > 0) {
    each = component.memory_per_gpu_mb;
    times = static_cast<std::uint64_t>(placement.gpus.count());
  }
  std::uint64_t product = 0;
  return __builtin_mul_overflow(each, times, &product) ? std::numeric_limits<std::uint64_t>::max() : product;
}

} // namespace

void take_from(NodeState &node, const Component &component, const Placement &placement, bool memory_counts) {
  node.free_cores -= placement.cores;
  node.free_gpus -= placement.gpus;
  if (memory_counts) node.free_memory_mb -= std::min(node.free_memory_mb, memory_taken_mb(node, component, placement));
  if (component.whole_nodes) node.whole_taken = true;
}

Cluster::Cluster(const Snapshot &snapshot)
    : ours_(snapshot.nodes.size(), -1), running_(snapshot.running), memory_counts_(snapshot.memory_counts),
      now_(snapshot.taken) {
  for (const Running &job : running_) ends(job);
  nodes_.reserve(snapshot.nodes.size());
  distributed_.reserve(snapshot.nodes.size());
  for (const NodeState &node : snapshot.nodes) {
    nodes_.push_back(&node);
    distributed_.push_back(count_distributed(node));
    kinds_.add(node, distributed_.back() > 0);
  }
}

const Running &Cluster::job_of(const Tenant &tenant) const {
  if (tenant.running >= 0) return running_.at(static_cast<std::size_t>(tenant.running));
  return planned_.at(static_cast<std::size_t>(-1 - tenant.running));
}

void Cluster::ends(const Running &job) {
  if (next_end_ == 0 || job.ends < next_end_) next_end_ = job.ends;
}

NodeState &Cluster::own(int node) {
  const auto at = static_cast<std::size_t>(node);
  if (ours_.at(at) < 0) {
    ours_[at] = static_cast<int>(changed_.size());
    changed_.push_back(*nodes_[at]);
    nodes_[at] = &changed_.back();
  }
  return changed_[static_cast<std::size_t>(ours_[at])];
}

// Before any gang is planned. A tenant whose job is not there is nobody's neighbour across nodes.
int Cluster::count_distributed(const NodeState &node) const {
  return static_cast<int>(std::count_if(node.tenants.begin(), node.tenants.end(), [&](const Tenant &tenant) {
    const auto job = static_cast<std::size_t>(tenant.running);
    return tenant.running >= 0 && job < running_.size() && running_[job].distributed();
  }));
}

void Cluster::has_changed(int node) {
  kinds_.change(node, this->node(node), distributed_on(node) > 0);
  changed_nodes_.push_back(node);
}

void Cluster::take(const Component &component, const Placement &placement) {
  take_from(own(placement.node), component, placement, memory_counts_);
  has_changed(placement.node);
}

void Cluster::start(const Gang &gang, const Plan &plan) {
  Running job;
  job.job = gang.job;
  job.user = gang.user;
  job.type = gang.type;
  job.managed = true;
  job.model_kb = gang.model_kb;
  job.started = now_;
  job.ends = now_ + std::time_t{60} * gang.time_limit_min;

  std::map<int, Tenant> tenants; // by node: components that meet on one are one neighbour to the others
  for (const Placement &placement : plan.placements) {
    take_from(own(placement.node), gang.components.at(static_cast<std::size_t>(placement.component)), placement,
              memory_counts_);
    Tenant &tenant = tenants[placement.node];
    tenant.workers += placement.workers;
    tenant.ps += placement.ps;
    tenant.cores += placement.cores.count();
    tenant.gpus.join(placement.gpus);
    job.workers += placement.workers;
    job.ps += placement.ps;
  }
  job.nodes = static_cast<int>(tenants.size());
  planned_.push_back(job);
  ends(job);
  for (auto &[node, tenant] : tenants) {
    tenant.running = -static_cast<int>(planned_.size()); // -1 - its index
    own(node).tenants.push_back(tenant);
    distributed_[static_cast<std::size_t>(node)] += job.distributed();
    has_changed(node);
  }
}

} // namespace harmony
