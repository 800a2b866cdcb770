#include "src/publish/node_topology.h"

#include "src/publish/compact.h"
#include "src/values/model_name.h"

#include <fmt/format.h>

#include <algorithm>

namespace harmony {
namespace {

// Sockets, each a NUMA node with its cores and its share of the memory.
Topology plain_sockets(const NodeFacts &facts) {
  Topology topology;
  topology.sockets = std::clamp(facts.sockets, 1, max_sockets);
  const int cores = std::clamp(facts.cores_per_socket, 1, max_cores / topology.sockets);
  for (int socket = 0; socket < topology.sockets; ++socket)
    topology.numa.push_back(
        {socket, {{socket * cores, socket * cores + cores - 1}}, facts.memory_mb / topology.sockets});
  return topology;
}

// The socket that most of a GPU's cores are on.
int socket_of(const GresGpu &gpu, int cores_per_socket, int sockets) {
  std::vector<int> count(static_cast<std::size_t>(sockets));
  for (const CoreRange &range : gpu.cores)
    for (int socket = 0; socket < sockets; ++socket) {
      const int first = std::max(range.first, socket * cores_per_socket);
      const int last = std::min(range.last, socket * cores_per_socket + cores_per_socket - 1);
      count[static_cast<std::size_t>(socket)] += std::max(0, last - first + 1);
    }
  return static_cast<int>(std::max_element(count.begin(), count.end()) - count.begin());
}

void add_links(const NodeFacts &facts, Topology &topology) {
  const int gpus = static_cast<int>(std::min(topology.gpus.size(), facts.links.size()));
  for (int first = 0; first < gpus; ++first)
    for (int second = first + 1; second < std::min(gpus, static_cast<int>(facts.links[first].size())); ++second)
      if (const int count = std::min(facts.links[first][second], max_links); count > 0)
        topology.links.push_back({first, second, count});
}

void add_gpus(const NodeFacts &facts, const std::vector<int> &domain_of, Topology &topology) {
  for (std::size_t i = 0; i < domain_of.size(); ++i) {
    Gpu gpu;
    gpu.domain = domain_of[i];
    gpu.model = clean_model(facts.gpus[i].type);
    topology.gpus.push_back(gpu);
  }
}

std::size_t gpu_count(const NodeFacts &facts) { return std::min<std::size_t>(facts.gpus.size(), max_gpus); }

bool gres_conf_says_something(const NodeFacts &facts) {
  return std::any_of(facts.gpus.begin(), facts.gpus.end(), [](const GresGpu &gpu) { return !gpu.cores.empty(); }) ||
         !facts.links.empty();
}

// One host bridge for each socket that has GPUs: all that Cores= can tell.
Topology from_gres_conf(const NodeFacts &facts) {
  Topology topology = plain_sockets(facts);
  topology.source = TopologySource::gres_conf;
  std::vector<int> bridge_of(static_cast<std::size_t>(topology.sockets), -1), domain_of;
  const int cores = topology.numa.front().cores.front().last + 1;
  for (std::size_t i = 0; i < gpu_count(facts); ++i) {
    const int socket = socket_of(facts.gpus[i], cores, topology.sockets);
    int &bridge = bridge_of[static_cast<std::size_t>(socket)];
    if (bridge < 0) {
      bridge = static_cast<int>(topology.domains.size());
      topology.domains.push_back({DomainKind::host_bridge, -1, socket});
    }
    domain_of.push_back(bridge);
  }
  add_gpus(facts, domain_of, topology);
  add_links(facts, topology);
  return topology;
}

Topology one_domain(const NodeFacts &facts) {
  Topology topology = plain_sockets(facts);
  topology.domains.push_back({DomainKind::host_bridge, -1, 0});
  add_gpus(facts, std::vector<int>(gpu_count(facts), 0), topology);
  return topology;
}

// Published for another machine than Slurm has here: placement would count GPUs that are not there.
std::string disagreement(const Topology &topology, const NodeFacts &facts) {
  if (topology.gpus.size() != facts.gpus.size())
    return fmt::format("it has {} GPUs, Slurm has {} for this node", topology.gpus.size(), facts.gpus.size());
  return {};
}

} // namespace

NodeTopology topology_of(const NodeFacts &facts) {
  NodeTopology result;
  for (const GresGpu &gpu : facts.gpus) result.gres_types.push_back(gpu.type);
  if (facts.published.empty()) {
    result.levels.push_back("published: nothing in the Extra field");
  } else {
    CompactResult parsed = parse_compact(facts.published);
    if (!parsed.problem.empty())
      result.problem = fmt::format("node {}: the topology in its Extra field is refused at position {}: {}", facts.name,
                                   parsed.position, parsed.problem);
    else if (const std::string differs = disagreement(parsed.topology, facts); !differs.empty())
      result.problem =
          fmt::format("node {}: the topology in its Extra field is not of this machine: {}", facts.name, differs);
    result.levels.push_back(result.problem.empty() ? "published: used" : "published: " + result.problem);
    if (result.problem.empty()) {
      result.topology = std::move(parsed.topology);
      return result;
    }
  }
  if (gres_conf_says_something(facts)) {
    result.topology = from_gres_conf(facts);
    result.levels.push_back("gres.conf: used, Cores and Links");
  } else {
    result.topology = one_domain(facts);
    result.levels.push_back("gres.conf: says nothing of Cores or Links");
    result.levels.push_back("none: one domain for the whole node");
  }
  return result;
}

} // namespace harmony
