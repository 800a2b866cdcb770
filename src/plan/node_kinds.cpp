#include "src/plan/node_kinds.h"

#include <algorithm>
#include <limits>
#include <tuple>

namespace harmony {
namespace {

constexpr unsigned parts_of_memory = 64;

auto all_of(const NodeKind &kind) {
  return std::tie(kind.free_cores, kind.free_gpus, kind.free_memory, kind.distributed, kind.tenants_cores, kind.shared,
                  kind.usable, kind.whole_taken, kind.memory_mb, kind.cores, kind.gpus, kind.model,
                  kind.threads_per_core, kind.weight);
}

} // namespace

std::uint64_t NodeKind::least_free_memory_mb() const {
  return (memory_mb * static_cast<unsigned>(free_memory) + parts_of_memory - 1) / parts_of_memory;
}

std::uint64_t NodeKind::most_free_memory_mb() const {
  if (free_memory >= int{parts_of_memory}) return std::numeric_limits<std::uint64_t>::max();
  return (memory_mb * static_cast<unsigned>(free_memory + 1) - 1) / parts_of_memory;
}

bool NodeKind::operator==(const NodeKind &other) const { return all_of(*this) == all_of(other); }

int free_memory_part(std::uint64_t free_mb, std::uint64_t all_mb) {
  if (free_mb >= all_mb) return int{parts_of_memory};
  return static_cast<int>(free_mb * parts_of_memory / all_mb);
}

void NodeKinds::add(const NodeState &node, bool distributed) { of_nodes_.push_back(enter(node, distributed)); }

void NodeKinds::change(int node, const NodeState &to, bool distributed) {
  int &mine = of_nodes_[static_cast<std::size_t>(node)];
  if (--nodes_[static_cast<std::size_t>(mine)] == 0) {
    index_.erase(kind(mine));
    unused_.push_back(mine);
  }
  mine = enter(to, distributed);
}

int NodeKinds::enter(const NodeState &node, bool distributed) {
  NodeKind kind;
  kind.memory_mb = node.memory_mb;
  kind.free_memory = free_memory_part(node.free_memory_mb, node.memory_mb);
  kind.cores = node.free_cores.size();
  kind.free_cores = node.free_cores.count();
  for (const Tenant &tenant : node.tenants) kind.tenants_cores += tenant.cores;
  kind.gpus = node.free_gpus.size();
  kind.free_gpus = node.free_gpus.count();
  kind.model = model_of(node);
  kind.threads_per_core = std::max(1, node.threads_per_core);
  kind.weight = node.weight;
  kind.usable = node.usable;
  kind.whole_taken = node.whole_taken;
  kind.shared = !node.tenants.empty();
  kind.distributed = distributed;

  const auto known = index_.find(kind);
  int index = known != index_.end() ? known->second : static_cast<int>(kinds_.size());
  if (known == index_.end()) {
    if (!unused_.empty()) {
      index = unused_.back();
      unused_.pop_back();
      kinds_[static_cast<std::size_t>(index)] = kind;
    } else {
      kinds_.push_back(kind);
      nodes_.push_back(0);
    }
    index_.emplace(kind, index);
  }
  ++nodes_[static_cast<std::size_t>(index)];
  return index;
}

int NodeKinds::model_of(const NodeState &node) {
  const std::vector<std::string> &names = node.gpu_models;
  if (names.empty()) return NodeKind::no_model;
  const bool alike = std::all_of(names.begin(), names.end(), [&](const std::string &name) { return name == names[0]; });
  const bool lost = node.topology && std::any_of(node.topology->gpus.begin(), node.topology->gpus.end(),
                                                 [](const Gpu &gpu) { return gpu.lost; });
  if (!alike || lost || names.size() != static_cast<std::size_t>(node.free_gpus.size())) return NodeKind::odd_models;
  const int known = model(names[0]);
  if (known < static_cast<int>(models_.size())) return known;
  models_.push_back(names[0]);
  return known;
}

int NodeKinds::model(const std::string &name) const {
  return static_cast<int>(std::find(models_.begin(), models_.end(), name) - models_.begin());
}

std::size_t NodeKinds::Hash::operator()(const NodeKind &kind) const {
  constexpr std::uint64_t odd = 0x9e3779b97f4a7c15u, other = 0xc2b2ae3d27d4eb4fu;
  const auto bits = [](int number) { return static_cast<std::uint64_t>(static_cast<std::uint32_t>(number)); };
  const std::uint64_t now = bits(kind.free_cores) | bits(kind.free_gpus) << 18 | bits(kind.free_memory) << 28 |
                            bits(kind.tenants_cores) << 36 | bits(kind.distributed) << 62;
  const std::uint64_t ever = kind.memory_mb ^ bits(kind.cores) << 40 ^ bits(kind.weight) << 16 ^ bits(kind.gpus) << 32;
  const std::uint64_t mixed = now * odd ^ ever * other;
  return static_cast<std::size_t>(mixed ^ mixed >> 32);
}

} // namespace harmony
