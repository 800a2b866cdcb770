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

Cluster::Cluster(const Snapshot &snapshot)
    : nodes_(snapshot.nodes), running_(snapshot.running), memory_counts_(snapshot.memory_counts), now_(snapshot.taken) {
}

const Running &Cluster::job_of(const Tenant &tenant) const {
  if (tenant.running >= 0) return running_.at(static_cast<std::size_t>(tenant.running));
  return planned_.at(static_cast<std::size_t>(-1 - tenant.running));
}

int Cluster::distributed_on(int node) const {
  const std::vector<Tenant> &tenants = this->node(node).tenants;
  return static_cast<int>(std::count_if(tenants.begin(), tenants.end(),
                                        [&](const Tenant &tenant) { return job_of(tenant).distributed(); }));
}

void Cluster::take(const Component &component, const Placement &placement) {
  NodeState &node = nodes_.at(static_cast<std::size_t>(placement.node));
  node.free_cores -= placement.cores;
  node.free_gpus -= placement.gpus;
  if (memory_counts_) node.free_memory_mb -= std::min(node.free_memory_mb, memory_taken_mb(node, component, placement));
  if (component.whole_nodes) node.whole_taken = true;
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
    take(gang.components.at(static_cast<std::size_t>(placement.component)), placement);
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
  for (auto &[node, tenant] : tenants) {
    tenant.running = -static_cast<int>(planned_.size()); // -1 - its index
    nodes_[static_cast<std::size_t>(node)].tenants.push_back(tenant);
  }
}

} // namespace harmony
