#include "src/sim/input/sim_cluster.h"

#include "src/discover/hwloc_reader.h"
#include "src/discover/profiles.h"
#include "src/publish/compact.h"
#include "src/values/printable.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <unordered_set>

namespace harmony {
namespace {

constexpr std::size_t max_node_name = 63, max_rack_name = 64;

[[noreturn]] void refuse(const NodeGroup &group, const std::string &what) {
  throw std::runtime_error(fmt::format("group \"{}\": {}", printable(group.name), what));
}

// By hand, since <cctype> follows the locale.
bool is_letter_or_digit(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'); }

bool is_node_name(const std::string &name) {
  return !name.empty() && name.size() <= max_node_name && is_letter_or_digit(name.front()) &&
         std::all_of(name.begin(), name.end(),
                     [](char c) { return is_letter_or_digit(c) || c == '-' || c == '_' || c == '.'; });
}

Topology topology_of(const NodeGroup &group) {
  const std::string &asked = group.topology;
  if (auto profile = synthetic_topology(asked)) return std::move(*profile);
  if (std::string_view(asked).substr(0, compact_prefix.size()) == compact_prefix) {
    CompactResult result = parse_compact(asked);
    if (result.problem.empty()) return std::move(result.topology);
    refuse(group, fmt::format("the compact form of its topology is wrong at character {}: {}", result.position + 1,
                              result.problem));
  }
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(asked, ignored))
    refuse(group, fmt::format("topology \"{}\" is no profile ({}), no compact form, and no file", printable(asked, 256),
                              fmt::join(synthetic_names(), ", ")));
  HwlocResult read = read_xml_file(asked);
  if (!read.problem.empty()) refuse(group, one_line(read.problem));
  return std::move(read.topology);
}

void check(const NodeGroup &group, const SimCluster &cluster) {
  if (!is_node_name(group.name))
    refuse(group, fmt::format("the name has to be 1 to {} of letters, digits, '-', '_' and '.', the first a letter or "
                              "a digit",
                              max_node_name));
  if (group.count < 1 || group.count > most_sim_nodes)
    refuse(group, fmt::format("count is {}, not from 1 to {}", group.count, most_sim_nodes));
  if (cluster.nodes.size() + static_cast<std::size_t>(group.count) > static_cast<std::size_t>(most_sim_nodes))
    refuse(group, fmt::format("with its {} nodes the cluster has more than {}", group.count, most_sim_nodes));
  if (!group.gpu.empty() && !is_model_name(group.gpu))
    refuse(group, fmt::format("gpu is \"{}\", not a model: 1 to {} of a-z, 0-9, '_', '.', '+' and '-'",
                              printable(group.gpu), max_model_length));
  if (group.nic_mbps < 0 || group.nic_mbps > most_nic_mbps)
    refuse(group, fmt::format("nic_mbps is {}, not from 0 to {}", group.nic_mbps, most_nic_mbps));
  if (group.rack.size() > max_rack_name || !std::all_of(group.rack.begin(), group.rack.end(), is_printable))
    refuse(group, fmt::format("the rack has to be at most {} printable characters", max_rack_name));
}

std::shared_ptr<const Topology> shared_topology(const NodeGroup &group) {
  Topology topology = topology_of(group);
  if (!group.gpu.empty() && topology.gpus.empty()) refuse(group, "gpu is given, but its topology has no GPU");
  if (group.nic_mbps > 0 && topology.nics.empty())
    refuse(group, "nic_mbps is given, but its topology has no network card");
  for (Gpu &gpu : topology.gpus)
    if (!group.gpu.empty()) gpu.model = group.gpu;
  for (Nic &nic : topology.nics)
    if (group.nic_mbps > 0) nic.speed_mbps = static_cast<std::uint32_t>(group.nic_mbps);
  return std::make_shared<const Topology>(std::move(topology));
}

NodeState free_node(const std::shared_ptr<const Topology> &topology) {
  NodeState node;
  node.topology = topology;
  node.usable = true;
  int cores = 0;
  for (const NumaNode &numa : topology->numa) {
    for (const CoreRange &range : numa.cores) cores = std::max(cores, range.last + 1);
    node.memory_mb += numa.memory_mb;
  }
  node.free_memory_mb = node.memory_mb;
  node.free_cores = Bits(cores);
  for (const NumaNode &numa : topology->numa)
    for (const CoreRange &range : numa.cores)
      for (int core = range.first; core <= range.last; ++core) node.free_cores.set(core);
  node.free_gpus = Bits(static_cast<int>(topology->gpus.size()));
  for (std::size_t i = 0; i < topology->gpus.size(); ++i) {
    if (!topology->gpus[i].lost) node.free_gpus.set(static_cast<int>(i));
    node.gpu_models.push_back(topology->gpus[i].model);
  }
  return node;
}

} // namespace

int SimCluster::gpus() const {
  int count = 0;
  for (const NodeState &node : nodes) count += node.free_gpus.count();
  return count;
}

void add_group(SimCluster &cluster, const NodeGroup &group) {
  check(group, cluster);
  std::unordered_set<std::string> taken; // asked, never walked through
  for (const NodeState &node : cluster.nodes) taken.insert(node.name);
  NodeState node = free_node(shared_topology(group));
  std::vector<NodeState> added;
  for (int i = 0; i < group.count; ++i) {
    node.name = fmt::format("{}{}", group.name, i);
    if (taken.count(node.name) > 0) refuse(group, fmt::format("another group has a node {} already", node.name));
    added.push_back(node);
  }
  cluster.nodes.insert(cluster.nodes.end(), std::make_move_iterator(added.begin()),
                       std::make_move_iterator(added.end()));
  cluster.racks.resize(cluster.nodes.size(), group.rack);
}

} // namespace harmony
