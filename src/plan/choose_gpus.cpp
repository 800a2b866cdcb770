#include "src/plan/choose_gpus.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <tuple>

namespace harmony {
namespace {

using Gpus = std::vector<int>;

// What the GPUs of a group have in common, nearest first.
enum Nearness { below_switch, below_switches, below_bridge, on_numa, on_socket, on_node };
constexpr int nearnesses = on_node + 1;

// The node, a socket, a NUMA node, a host bridge or a switch; or, without children, the GPUs right below one of them.
struct Group {
  int parent = -1; // stands before it
  Nearness nearness = on_node;
  std::vector<int> children = {}; // those with suitable GPUs
  Gpus gpus = {};                 // of a leaf: the suitable ones that are left
  int left = 0;                   // suitable GPUs below it that are left
  bool fresh = true;              // no GPU below it is in use, of whatever model
};

bool in_range(int index, std::size_t size) { return index >= 0 && static_cast<std::size_t>(index) < size; }

void append(Gpus &to, const Gpus &more) { to.insert(to.end(), more.begin(), more.end()); }

class GpuTree {
public:
  GpuTree(const NodeState &node, const Bits &suitable);

  // So many GPUs below the group. `together`: as near each other as can be; else first of all from the groups that are
  // broken already.
  Gpus pick(int group, int count, bool together) const { return pick(group, count, together, nearest(count), {}); }

  // The smallest group that has room for the tasks without tearing one of them further apart than it must be.
  int group_for(int tasks, int gpus_per_task) const;

  void remove(const Gpus &gpus);

private:
  Group &at(int group) { return groups_[static_cast<std::size_t>(group)]; }
  const Group &at(int group) const { return groups_[static_cast<std::size_t>(group)]; }

  int add(int parent, Nearness nearness);
  void add_domains(const Topology &topology);
  int leaf_of_domain(const Topology &topology, int domain);
  void add_links(const Topology &topology);

  std::vector<int> nearest(int count) const;
  std::vector<int> holders(Nearness limit, int gpus_per_task) const;
  int harm(int group, int count) const;
  Gpus pick(int group, int count, bool together, const std::vector<int> &near, const Gpus &beside) const;
  Gpus best_fit(const std::vector<int> &children, int count, bool together, const std::vector<int> &near,
                const Gpus &beside) const;
  int largest(const std::vector<int> &children, const Gpus &beside) const;
  Gpus below(int group) const;
  Gpus most_linked(const Gpus &gpus, int count, const Gpus &beside) const;
  int link_count(int gpu, const Gpus &others) const;
  int link_count(const Gpus &gpus, const Gpus &beside) const;

  std::vector<Group> groups_;    // the node first
  std::vector<int> domain_at_;   // the group of each domain
  std::vector<int> leaf_at_;     // the leaf of each domain, -1: none yet
  std::vector<int> leaf_of_gpu_; // by GPU
  std::vector<int> links_;       // GPU by GPU; empty if there are none
  int gpus_ = 0;
};

GpuTree::GpuTree(const NodeState &node, const Bits &suitable) : gpus_(node.free_gpus.size()) {
  const Topology *topology = gpu_topology(node);
  add(-1, on_node);
  if (topology) add_domains(*topology);
  const int loose = add(0, on_node);
  for (int gpu = 0; gpu < gpus_; ++gpu) {
    int leaf = topology ? leaf_of_domain(*topology, topology->gpus[static_cast<std::size_t>(gpu)].domain) : loose;
    if (leaf < 0) leaf = loose;
    leaf_of_gpu_.push_back(leaf);
    if (suitable.test(gpu)) at(leaf).gpus.push_back(gpu);
    const bool used = !node.free_gpus.test(gpu) && !is_lost(node, gpu);
    for (int group = leaf; group >= 0; group = at(group).parent) {
      at(group).left += suitable.test(gpu);
      if (used) at(group).fresh = false;
    }
  }
  for (int group = 1; group < static_cast<int>(groups_.size()); ++group)
    if (at(group).left > 0) at(at(group).parent).children.push_back(group);
  if (topology) add_links(*topology);
}

int GpuTree::add(int parent, Nearness nearness) {
  groups_.push_back({parent, nearness});
  return static_cast<int>(groups_.size()) - 1;
}

// Whatever names a parent that is not there hangs below the node itself.
void GpuTree::add_domains(const Topology &topology) {
  const int sockets = std::clamp(topology.sockets, 0, max_sockets);
  for (int socket = 0; socket < sockets; ++socket) add(0, on_socket);
  std::vector<int> numa_at;
  for (const NumaNode &numa : topology.numa)
    numa_at.push_back(add(in_range(numa.socket, static_cast<std::size_t>(sockets)) ? 1 + numa.socket : 0, on_numa));
  for (const Domain &domain : topology.domains) {
    int parent = 0;
    if (in_range(domain.numa, numa_at.size())) parent = numa_at[static_cast<std::size_t>(domain.numa)];
    const bool is_switch = domain.kind == DomainKind::pcie_switch;
    if (is_switch && in_range(domain.parent, domain_at_.size()))
      parent = domain_at_[static_cast<std::size_t>(domain.parent)];
    domain_at_.push_back(add(parent, is_switch ? below_switches : below_bridge));
  }
  leaf_at_.assign(domain_at_.size(), -1);
}

int GpuTree::leaf_of_domain(const Topology &topology, int domain) {
  if (!in_range(domain, domain_at_.size())) return -1;
  const auto index = static_cast<std::size_t>(domain);
  const bool is_switch = topology.domains[index].kind == DomainKind::pcie_switch;
  if (leaf_at_[index] < 0) leaf_at_[index] = add(domain_at_[index], is_switch ? below_switch : below_bridge);
  return leaf_at_[index];
}

void GpuTree::add_links(const Topology &topology) {
  const auto gpus = static_cast<std::size_t>(gpus_);
  for (const Link &link : topology.links) {
    if (!in_range(link.first, gpus) || !in_range(link.second, gpus)) continue;
    links_.resize(gpus * gpus);
    const auto first = static_cast<std::size_t>(link.first), second = static_cast<std::size_t>(link.second);
    links_[first * gpus + second] = links_[second * gpus + first] = std::clamp(link.count, 0, max_links);
  }
}

// For each group, how near each other so many of its GPUs can be; `nearnesses` if it has not as many.
std::vector<int> GpuTree::nearest(int count) const {
  std::vector<int> near(groups_.size(), nearnesses);
  for (std::size_t i = groups_.size(); i-- > 0;) {
    const Group &group = groups_[i];
    if (group.left < count) continue;
    near[i] = group.nearness;
    for (int child : group.children) near[i] = std::min(near[i], near[static_cast<std::size_t>(child)]);
  }
  return near;
}

// For each group, how many tasks find their GPUs within the limit.
std::vector<int> GpuTree::holders(Nearness limit, int gpus_per_task) const {
  std::vector<int> tasks(groups_.size(), 0);
  for (std::size_t i = groups_.size(); i-- > 0;) {
    const Group &group = groups_[i];
    if (group.nearness <= limit) {
      tasks[i] = group.left / gpus_per_task;
      continue;
    }
    for (int child : group.children) tasks[i] += tasks[static_cast<std::size_t>(child)];
  }
  return tasks;
}

int GpuTree::group_for(int tasks, int gpus_per_task) const {
  std::vector<int> limits(groups_.size(), nearnesses);
  for (int limit = nearnesses; limit-- > 0;) {
    const std::vector<int> held = holders(static_cast<Nearness>(limit), gpus_per_task);
    for (std::size_t i = 0; i < groups_.size(); ++i)
      if (held[i] >= tasks) limits[i] = limit;
  }
  const int limit = limits[0], count = tasks * gpus_per_task;
  for (int group = 0;;) {
    int best = -1;
    std::tuple<int, int> least;
    for (int child : at(group).children) {
      if (at(child).left < count || limits[static_cast<std::size_t>(child)] > limit) continue;
      const std::tuple<int, int> key(harm(child, count), at(child).left);
      if (best < 0 || key < least) std::tie(best, least) = std::make_tuple(child, key);
    }
    if (best < 0) return group;
    group = best;
  }
}

// What taking so many does to a group: uses it up, breaks it further, or breaks it.
int GpuTree::harm(int group, int count) const {
  if (at(group).left == count) return 0;
  return at(group).fresh ? 2 : 1;
}

Gpus GpuTree::pick(int group, int count, bool together, const std::vector<int> &near, const Gpus &beside) const {
  if (at(group).children.empty()) return most_linked(at(group).gpus, count, beside);
  std::vector<int> children = at(group).children;
  Gpus picked = best_fit(children, count, together, near, beside);
  if (!picked.empty()) return picked;

  // No child has enough: the largest ones whole, so that the GPUs are in few of them, then the best fit for the rest.
  Gpus chosen, rest;
  Gpus all_beside = beside;
  while (rest.empty()) {
    const int whole = largest(children, all_beside);
    const Gpus more = below(whole);
    append(chosen, more);
    append(all_beside, more);
    count -= at(whole).left;
    children.erase(std::find(children.begin(), children.end(), whole));
    rest = best_fit(children, count, together, nearest(count), all_beside);
  }
  append(chosen, rest);
  std::sort(chosen.begin(), chosen.end());
  return chosen;
}

// Nothing if no child has enough.
Gpus GpuTree::best_fit(const std::vector<int> &children, int count, bool together, const std::vector<int> &near,
                       const Gpus &beside) const {
  using Key = std::array<int, 4>;
  const auto key_of = [&](int child) {
    const int nearness = near[static_cast<std::size_t>(child)];
    return Key{together ? nearness : 0, harm(child, count), at(child).left, nearness};
  };
  std::vector<int> best;
  for (int child : children) {
    if (at(child).left < count) continue;
    if (!best.empty() && key_of(child) < key_of(best.front())) best.clear();
    if (best.empty() || key_of(child) == key_of(best.front())) best.push_back(child);
  }
  Gpus chosen;
  int most = -1;
  for (int child : best) {
    const Gpus gpus = pick(child, count, together, near, beside);
    const int links = link_count(gpus, beside);
    if (links > most || (links == most && gpus < chosen)) std::tie(chosen, most) = std::make_tuple(gpus, links);
  }
  return chosen;
}

int GpuTree::largest(const std::vector<int> &children, const Gpus &beside) const {
  int best = -1, most = -1;
  for (int child : children) {
    if (best >= 0 && at(child).left < at(best).left) continue;
    const int links = link_count(below(child), beside);
    if (best < 0 || at(child).left > at(best).left || links > most)
      std::tie(best, most) = std::make_tuple(child, links);
  }
  return best;
}

Gpus GpuTree::below(int group) const {
  Gpus gpus = at(group).gpus;
  for (int child : at(group).children) append(gpus, below(child));
  return gpus;
}

// Starting from each GPU in turn, always the one that has the most links to those chosen so far: not always the best
// set, but so for the pairs and the fully linked groups that machines have.
Gpus GpuTree::most_linked(const Gpus &gpus, int count, const Gpus &beside) const {
  Gpus best(gpus.begin(), gpus.begin() + count);
  if (links_.empty() || count == static_cast<int>(gpus.size())) return best;
  int most = link_count(best, beside);
  for (int seed : gpus) {
    Gpus chosen{seed}, rest;
    std::copy_if(gpus.begin(), gpus.end(), std::back_inserter(rest), [seed](int gpu) { return gpu != seed; });
    std::vector<int> gain;
    for (int gpu : rest) gain.push_back(link_count(gpu, beside) + link_count(gpu, {seed}));
    while (static_cast<int>(chosen.size()) < count) {
      const auto top = std::max_element(gain.begin(), gain.end()) - gain.begin();
      const int next = rest[static_cast<std::size_t>(top)];
      chosen.push_back(next);
      rest.erase(rest.begin() + top);
      gain.erase(gain.begin() + top);
      for (std::size_t i = 0; i < rest.size(); ++i) gain[i] += link_count(rest[i], {next});
    }
    std::sort(chosen.begin(), chosen.end());
    const int links = link_count(chosen, beside);
    if (links > most) std::tie(best, most) = std::make_tuple(chosen, links);
  }
  return best;
}

int GpuTree::link_count(int gpu, const Gpus &others) const {
  if (links_.empty()) return 0;
  int total = 0;
  for (int other : others)
    total += links_[static_cast<std::size_t>(gpu) * static_cast<std::size_t>(gpus_) + static_cast<std::size_t>(other)];
  return total;
}

// Between the GPUs (each link twice) and from them to those beside.
int GpuTree::link_count(const Gpus &gpus, const Gpus &beside) const {
  int total = 0;
  for (int gpu : gpus) total += link_count(gpu, gpus) + 2 * link_count(gpu, beside);
  return total;
}

void GpuTree::remove(const Gpus &gpus) {
  for (int gpu : gpus) {
    const int leaf = leaf_of_gpu_[static_cast<std::size_t>(gpu)];
    Gpus &left = at(leaf).gpus;
    left.erase(std::find(left.begin(), left.end(), gpu));
    for (int group = leaf; group >= 0; group = at(group).parent) {
      --at(group).left;
      at(group).fresh = false;
    }
  }
}

} // namespace

std::vector<Gpus> choose_gpus(const NodeState &node, const Bits &suitable, int tasks, int gpus_per_task) {
  std::vector<Gpus> chosen;
  if (tasks <= 0 || gpus_per_task <= 0) return chosen;
  GpuTree tree(node, suitable);
  if (gpus_per_task == 1) {
    for (int gpu : tree.pick(0, tasks, false)) chosen.push_back({gpu});
  } else {
    const int group = tasks == 1 ? 0 : tree.group_for(tasks, gpus_per_task);
    for (int task = 0; task < tasks; ++task) {
      chosen.push_back(tree.pick(group, gpus_per_task, true));
      tree.remove(chosen.back());
    }
  }
  std::sort(chosen.begin(), chosen.end());
  return chosen;
}

} // namespace harmony
