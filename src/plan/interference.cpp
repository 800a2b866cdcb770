#include "src/plan/interference.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

namespace harmony {
namespace {

constexpr std::size_t most_neighbours = 8;

// What the gang has on one node, whatever its components.
struct OnNode {
  int workers = 0;
  int cores = 0;
  Bits gpus;
};

std::map<int, OnNode> by_node(const Cluster &cluster, const Plan &plan) {
  std::map<int, OnNode> nodes;
  for (const Placement &placement : plan.placements) {
    OnNode &here = nodes[placement.node];
    if (here.gpus.size() == 0) here.gpus = Bits(cluster.node(placement.node).free_gpus.size());
    here.workers += placement.workers;
    here.cores += placement.cores.count();
    here.gpus |= placement.gpus;
  }
  return nodes;
}

enum class Near { apart, same_socket, same_bridge, same_domain };

Near near(const NodeState &node, int gpu, int other) {
  const Topology *topology = node.topology.get();
  const auto known = [&](int index) { return topology && static_cast<std::size_t>(index) < topology->gpus.size(); };
  // Without a topology they might share anything; the middle is the least wrong.
  if (!known(gpu) || !known(other)) return Near::same_socket;
  const int mine = topology->gpus[static_cast<std::size_t>(gpu)].domain;
  const int its = topology->gpus[static_cast<std::size_t>(other)].domain;
  if (mine == its) return Near::same_domain;
  if (host_bridge(*topology, mine) == host_bridge(*topology, its)) return Near::same_bridge;
  const auto socket = [&](int domain) {
    return topology->numa[static_cast<std::size_t>(topology->domains[static_cast<std::size_t>(domain)].numa)].socket;
  };
  return socket(mine) == socket(its) ? Near::same_socket : Near::apart;
}

// Workers for each GPU of a job; what is not known to be a gang has a worker on each GPU.
double workers_a_gpu(int workers, const Bits &gpus) {
  const int count = gpus.count();
  return workers > 0 && count > 0 ? static_cast<double>(workers) / count : 1;
}

// What the workers on `theirs` cost the worker on `gpu`.
double loss_through_gpus(const NodeState &node, int gpu, const Bits &theirs, double workers,
                         const InterferenceRates &rates) {
  double loss = 0;
  for (const int other : each(theirs)) {
    const Near how = near(node, gpu, other);
    if (how == Near::same_domain)
      loss += rates.same_domain * workers;
    else if (how != Near::apart)
      loss += rates.same_socket * workers;
  }
  return loss;
}

double part_of_cores(const NodeState &node, int cores) {
  return node.free_cores.size() ? static_cast<double>(cores) / node.free_cores.size() : 0;
}

double loss_on(const Cluster &cluster, int index, const OnNode &mine, bool distributed,
               const InterferenceRates &rates) {
  const NodeState &node = cluster.node(index);
  double slowest_gpu = 0;
  for (const int gpu : each(mine.gpus)) {
    double loss = 0;
    for (const Tenant &tenant : node.tenants)
      loss += loss_through_gpus(node, gpu, tenant.gpus, workers_a_gpu(tenant.workers, tenant.gpus), rates);
    slowest_gpu = std::max(slowest_gpu, loss);
  }
  int cores = 0;
  for (const Tenant &tenant : node.tenants) cores += tenant.cores;
  const double nic = distributed ? rates.same_nic * cluster.distributed_on(index) : 0;
  return slowest_gpu + nic + rates.cores * part_of_cores(node, cores);
}

const char *shared_text(const NodeState &node, const OnNode &mine, const Tenant &tenant, bool same_nic) {
  Near nearest = Near::apart;
  bool below_switch = false;
  for (const int gpu : each(mine.gpus))
    for (const int other : each(tenant.gpus)) {
      const Near how = near(node, gpu, other);
      nearest = std::max(nearest, how);
      if (how == Near::same_domain)
        below_switch |=
            node.topology->domains[static_cast<std::size_t>(node.topology->gpus[static_cast<std::size_t>(gpu)].domain)]
                .kind == DomainKind::pcie_switch;
    }
  if (nearest == Near::same_domain) return below_switch ? "same PCIe switch" : "same host bridge";
  if (nearest == Near::same_bridge) return "same host bridge";
  if (same_nic) return "same network card";
  return nearest == Near::same_socket && node.topology ? "same socket" : "same node";
}

} // namespace

double speed_alone(int nodes, const InterferenceRates &rates) {
  // With everything exchanged evenly, 1 / nodes of it stays on a node.
  return 1 - rates.across_nodes * (1 - 1 / static_cast<double>(std::max(1, nodes)));
}

double predicted_speed(const Cluster &cluster, const Gang &, const Plan &plan, const InterferenceRates &rates) {
  const std::map<int, OnNode> nodes = by_node(cluster, plan);
  double slowest = 0;
  for (const auto &[index, mine] : nodes)
    slowest = std::max(slowest, loss_on(cluster, index, mine, nodes.size() > 1, rates));
  return std::max(rates.slowest, speed_alone(static_cast<int>(nodes.size()), rates) - slowest);
}

double harm(const Cluster &cluster, const Gang &, const Plan &plan, const InterferenceRates &rates) {
  const std::map<int, OnNode> nodes = by_node(cluster, plan);
  std::map<int, double> of_job; // by Tenant::running; at the pace of its slowest node
  for (const auto &[index, mine] : nodes) {
    const NodeState &node = cluster.node(index);
    for (const Tenant &tenant : node.tenants) {
      double slowest_gpu = 0;
      for (const int gpu : each(tenant.gpus))
        slowest_gpu = std::max(slowest_gpu,
                               loss_through_gpus(node, gpu, mine.gpus, workers_a_gpu(mine.workers, mine.gpus), rates));
      const bool same_nic = nodes.size() > 1 && cluster.job_of(tenant).distributed();
      const double loss = slowest_gpu + (same_nic ? rates.same_nic : 0) + rates.cores * part_of_cores(node, mine.cores);
      double &worst = of_job[tenant.running];
      worst = std::max(worst, loss);
    }
  }
  double sum = 0;
  for (const auto &[job, loss] : of_job) sum += std::min(loss, 1 - rates.slowest);
  return sum;
}

std::vector<std::string> neighbours(const Cluster &cluster, const Plan &plan) {
  const std::map<int, OnNode> nodes = by_node(cluster, plan);
  std::vector<std::string> texts;
  std::size_t more = 0;
  for (const auto &[index, mine] : nodes) {
    const NodeState &node = cluster.node(index);
    for (const Tenant &tenant : node.tenants) {
      if (texts.size() == most_neighbours) {
        ++more;
        continue;
      }
      const Running &job = cluster.job_of(tenant);
      texts.push_back(fmt::format("{}: job {} ({}) {}+{}, {}", node.name, job.job, job.type, tenant.workers, tenant.ps,
                                  shared_text(node, mine, tenant, nodes.size() > 1 && job.distributed())));
    }
  }
  if (more) texts.push_back(fmt::format("and {} more", more));
  return texts;
}

} // namespace harmony
