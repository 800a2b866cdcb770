#include "src/plan/interference.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
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

double part_of_cores(const NodeState &node, int cores) {
  return node.free_cores.size() ? static_cast<double>(cores) / node.free_cores.size() : 0;
}

// What the workers on `theirs` are to the worker on `gpu`.
void add_through_gpus(const NodeState &node, int gpu, const Bits &theirs, double workers, InterferenceTerms &terms) {
  for (const int other : each(theirs)) {
    const Near how = near(node, gpu, other);
    if (how == Near::same_domain)
      terms.same_domain += workers;
    else if (how != Near::apart)
      terms.same_socket += workers;
  }
}

double loss_of(const InterferenceTerms &terms, const InterferenceRates &rates) {
  return rates.same_domain * terms.same_domain + rates.same_socket * terms.same_socket +
         rates.same_nic * terms.same_nic + rates.cores * terms.cores;
}

// The worse of two, by what they cost; of equals the first.
void worsen(InterferenceTerms &worst, const InterferenceTerms &terms, const InterferenceRates &rates) {
  if (loss_of(terms, rates) > loss_of(worst, rates)) worst = terms;
}

double crossing(std::size_t nodes) {
  // With everything exchanged evenly, 1 / nodes of it stays on a node.
  return 1 - 1 / static_cast<double>(std::max<std::size_t>(1, nodes));
}

// What a job with these GPUs meets on the node. `running` is itself, and `beside` a gang that is to start there.
InterferenceTerms terms_on(const Cluster &cluster, int index, const Bits &gpus, bool distributed, int running,
                           const OnNode *beside, bool beside_distributed, const InterferenceRates &rates) {
  const NodeState &node = cluster.node(index);
  const auto is_other = [running](const Tenant &tenant) { return tenant.running != running; };
  InterferenceTerms worst;
  for (const int gpu : each(gpus)) {
    InterferenceTerms through;
    for (const Tenant &tenant : node.tenants)
      if (is_other(tenant))
        add_through_gpus(node, gpu, tenant.gpus, workers_a_gpu(tenant.workers, tenant.gpus), through);
    if (beside) add_through_gpus(node, gpu, beside->gpus, workers_a_gpu(beside->workers, beside->gpus), through);
    worsen(worst, through, rates);
  }
  int cores = beside ? beside->cores : 0, jobs = cluster.distributed_on(index) + (beside_distributed ? 1 : 0);
  for (const Tenant &tenant : node.tenants) {
    if (is_other(tenant))
      cores += tenant.cores;
    else if (cluster.job_of(tenant).distributed())
      --jobs;
  }
  worst.same_nic = distributed ? jobs : 0;
  worst.cores = part_of_cores(node, cores);
  return worst;
}

// No tenant's number.
constexpr int nobody = std::numeric_limits<int>::min();

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
  return 1 - rates.across_nodes * crossing(static_cast<std::size_t>(std::max(1, nodes)));
}

double speed_by(const InterferenceTerms &terms, const InterferenceRates &rates) {
  return std::max(rates.slowest, 1 - rates.across_nodes * terms.across_nodes - loss_of(terms, rates));
}

InterferenceTerms interference_terms(const Cluster &cluster, const Plan &plan, int except_running,
                                     const InterferenceRates &rates) {
  const std::map<int, OnNode> nodes = by_node(cluster, plan);
  InterferenceTerms worst;
  for (const auto &[index, mine] : nodes)
    worsen(worst,
           terms_on(cluster, index, mine.gpus, nodes.size() > 1, except_running < 0 ? nobody : except_running, nullptr,
                    false, rates),
           rates);
  worst.across_nodes = crossing(nodes.size());
  return worst;
}

std::vector<NeighbourTerms> neighbour_terms(const Cluster &cluster, const Plan &plan, const InterferenceRates &rates) {
  const std::map<int, OnNode> nodes = by_node(cluster, plan);
  std::map<int, NeighbourTerms> of_job; // by Tenant::running
  for (const auto &[index, mine] : nodes)
    for (const Tenant &tenant : cluster.node(index).tenants) {
      NeighbourTerms &its = of_job[tenant.running];
      its.job = &cluster.job_of(tenant);
      const bool distributed = its.job->distributed();
      const auto terms = [&](const OnNode *beside) {
        return terms_on(cluster, index, tenant.gpus, distributed, tenant.running, beside, beside && nodes.size() > 1,
                        rates);
      };
      worsen(its.before, terms(nullptr), rates);
      worsen(its.after, terms(&mine), rates);
    }
  std::vector<NeighbourTerms> all;
  for (auto &[running, its] : of_job) {
    its.before.across_nodes = its.after.across_nodes = crossing(static_cast<std::size_t>(its.job->nodes));
    all.push_back(its);
  }
  return all;
}

double predicted_speed(const Cluster &cluster, const Gang &, const Plan &plan, const InterferenceRates &rates) {
  return speed_by(interference_terms(cluster, plan, -1, rates), rates);
}

double harm(const Cluster &cluster, const Gang &, const Plan &plan, const InterferenceRates &rates) {
  const std::map<int, OnNode> nodes = by_node(cluster, plan);
  std::map<int, double> of_job; // by Tenant::running; at the pace of its slowest node
  for (const auto &[index, mine] : nodes) {
    const NodeState &node = cluster.node(index);
    for (const Tenant &tenant : node.tenants) {
      InterferenceTerms terms;
      for (const int gpu : each(tenant.gpus)) {
        InterferenceTerms through;
        add_through_gpus(node, gpu, mine.gpus, workers_a_gpu(mine.workers, mine.gpus), through);
        worsen(terms, through, rates);
      }
      terms.same_nic = nodes.size() > 1 && cluster.job_of(tenant).distributed() ? 1 : 0;
      terms.cores = part_of_cores(node, mine.cores);
      double &worst = of_job[tenant.running];
      worst = std::max(worst, loss_of(terms, rates));
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
