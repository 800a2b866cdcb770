#include "src/plan/choose_gpus.h"

#include "src/plan/gpu_set.h"

#include <algorithm>
#include <array>
#include <tuple>

namespace harmony {
namespace {

// What the GPUs of a group have in common, nearest first.
enum Nearness { below_switch, below_switches, below_bridge, on_numa, on_socket, on_node };
constexpr int nearnesses = on_node + 1;

// The node, a socket, a NUMA node, a host bridge or a switch; or, without children, the GPUs right below one of them.
struct Group {
  int parent = -1; // stands before it
  Nearness nearness = on_node;
  int child = -1; // those with suitable GPUs, ascending: the first, and the next one's sibling
  int sibling = -1;
  GpuSet gpus = {};  // the suitable ones below it that are left
  int left = 0;      // so many
  bool fresh = true; // no GPU below it is in use, of whatever model
};

bool in_range(int index, std::size_t size) { return index >= 0 && static_cast<std::size_t>(index) < size; }

class GpuTree {
public:
  GpuTree(const NodeState &node, const Bits &free, const Bits &suitable);

  // So many GPUs below the group. `together`: as near each other as can be; else first of all from the groups that are
  // broken already.
  GpuSet pick(int group, int count, bool together) const { return pick(group, count, together, nearest(count), {}); }

  // The smallest group that has room for the tasks without tearing one of them further apart than it must be.
  int group_for(int tasks, int gpus_per_task) const;

  void remove(const GpuSet &gpus);

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
  GpuSet pick(int group, int count, bool together, const std::vector<int> &near, const GpuSet &beside) const;
  GpuSet pick_whole(int group, int count, bool together, const GpuSet &beside) const;
  GpuSet best_fit(int group, const std::vector<int> &gone, int count, bool together, const std::vector<int> &near,
                  const GpuSet &beside) const;
  int largest(int group, const std::vector<int> &gone, const GpuSet &beside) const;
  GpuSet most_linked(const GpuSet &gpus, int count, const GpuSet &beside) const;
  GpuSet most_linked_from(int seed, const GpuSet &gpus, int count, const GpuSet &beside) const;
  int link_count(int gpu, const GpuSet &others) const;
  int link_count(const GpuSet &gpus, const GpuSet &beside) const;

  std::vector<Group> groups_;    // the node first
  std::vector<int> domain_at_;   // the group of each domain
  std::vector<int> leaf_at_;     // the leaf of each domain, -1: none yet
  std::vector<int> leaf_of_gpu_; // by GPU
  std::vector<int> links_;       // GPU by GPU; empty if there are none
  int gpus_ = 0;
};

GpuTree::GpuTree(const NodeState &node, const Bits &free, const Bits &suitable) : gpus_(free.size()) {
  const Topology *topology = gpu_topology(node);
  add(-1, on_node);
  if (topology) add_domains(*topology);
  const int loose = add(0, on_node);
  for (int gpu = 0; gpu < gpus_; ++gpu) {
    int leaf = topology ? leaf_of_domain(*topology, topology->gpus[static_cast<std::size_t>(gpu)].domain) : loose;
    if (leaf < 0) leaf = loose;
    leaf_of_gpu_.push_back(leaf);
    const bool takes_tasks = suitable.test(gpu);
    const bool used = !free.test(gpu) && !is_lost(node, gpu);
    for (int group = leaf; group >= 0; group = at(group).parent) {
      at(group).left += takes_tasks;
      if (takes_tasks) at(group).gpus.set(gpu);
      if (used) at(group).fresh = false;
    }
  }
  for (int group = static_cast<int>(groups_.size()) - 1; group > 0; --group) {
    if (at(group).left == 0) continue;
    int &first = at(at(group).parent).child;
    at(group).sibling = first;
    first = group;
  }
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
    for (int child = group.child; child >= 0; child = at(child).sibling)
      near[i] = std::min(near[i], near[static_cast<std::size_t>(child)]);
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
    for (int child = group.child; child >= 0; child = at(child).sibling)
      tasks[i] += tasks[static_cast<std::size_t>(child)];
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
    for (int child = at(group).child; child >= 0; child = at(child).sibling) {
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

GpuSet GpuTree::pick(int group, int count, bool together, const std::vector<int> &near, const GpuSet &beside) const {
  if (at(group).child < 0) return most_linked(at(group).gpus, count, beside);
  const GpuSet picked = best_fit(group, {}, count, together, near, beside);
  return picked.empty() ? pick_whole(group, count, together, beside) : picked;
}

// No child has enough: the largest ones whole, so that the GPUs are in few of them, then the best fit for the rest.
GpuSet GpuTree::pick_whole(int group, int count, bool together, const GpuSet &beside) const {
  GpuSet chosen, rest;
  GpuSet all_beside = beside;
  std::vector<int> gone;
  while (rest.empty()) {
    const int whole = largest(group, gone, all_beside);
    chosen |= at(whole).gpus;
    all_beside |= at(whole).gpus;
    count -= at(whole).left;
    gone.push_back(whole);
    rest = best_fit(group, gone, count, together, nearest(count), all_beside);
  }
  chosen |= rest;
  return chosen;
}

bool is_among(const std::vector<int> &numbers, int number) {
  return std::find(numbers.begin(), numbers.end(), number) != numbers.end();
}

// Nothing if no child has enough, but for those that are gone.
GpuSet GpuTree::best_fit(int group, const std::vector<int> &gone, int count, bool together,
                         const std::vector<int> &near, const GpuSet &beside) const {
  using Key = std::array<int, 4>;
  const auto fits = [&](int child) { return at(child).left >= count && !is_among(gone, child); };
  const auto key_of = [&](int child) {
    const int nearness = near[static_cast<std::size_t>(child)];
    return Key{together ? nearness : 0, harm(child, count), at(child).left, nearness};
  };
  const Key none{nearnesses + 1, 0, 0, 0};
  Key best = none;
  for (int child = at(group).child; child >= 0; child = at(child).sibling)
    if (fits(child) && (best == none || key_of(child) < best)) best = key_of(child);
  GpuSet chosen;
  int most = -1;
  for (int child = at(group).child; child >= 0; child = at(child).sibling) {
    if (!fits(child) || key_of(child) != best) continue;
    const GpuSet gpus = pick(child, count, together, near, beside);
    const int links = link_count(gpus, beside);
    if (links > most || (links == most && gpus < chosen)) std::tie(chosen, most) = std::make_tuple(gpus, links);
  }
  return chosen;
}

int GpuTree::largest(int group, const std::vector<int> &gone, const GpuSet &beside) const {
  int best = -1, most = -1;
  for (int child = at(group).child; child >= 0; child = at(child).sibling) {
    if (is_among(gone, child) || (best >= 0 && at(child).left < at(best).left)) continue;
    const int links = link_count(at(child).gpus, beside);
    if (best < 0 || at(child).left > at(best).left || links > most)
      std::tie(best, most) = std::make_tuple(child, links);
  }
  return best;
}

// Starting from each GPU in turn, always the one that has the most links to those chosen so far: not always the best
// set, but so for the pairs and the fully linked groups that machines have.
GpuSet GpuTree::most_linked(const GpuSet &gpus, int count, const GpuSet &beside) const {
  GpuSet best = gpus.lowest(count);
  if (links_.empty() || best == gpus) return best;
  int most = link_count(best, beside);
  for (int seed = gpus.next(0); seed >= 0; seed = gpus.next(seed + 1)) {
    const GpuSet chosen = most_linked_from(seed, gpus, count, beside);
    const int links = link_count(chosen, beside);
    if (links > most) std::tie(best, most) = std::make_tuple(chosen, links);
  }
  return best;
}

GpuSet GpuTree::most_linked_from(int seed, const GpuSet &gpus, int count, const GpuSet &beside) const {
  GpuSet chosen, rest = gpus;
  chosen.set(seed);
  rest.clear(seed);
  for (int left = count - 1; left > 0; --left) {
    int best = -1, most = -1;
    for (int gpu = rest.next(0); gpu >= 0; gpu = rest.next(gpu + 1)) {
      const int gain = link_count(gpu, beside) + link_count(gpu, chosen);
      if (gain > most) std::tie(best, most) = std::make_tuple(gpu, gain);
    }
    chosen.set(best);
    rest.clear(best);
  }
  return chosen;
}

int GpuTree::link_count(int gpu, const GpuSet &others) const {
  if (links_.empty()) return 0;
  const int *links = &links_[static_cast<std::size_t>(gpu) * static_cast<std::size_t>(gpus_)];
  int total = 0;
  for (int other = others.next(0); other >= 0; other = others.next(other + 1)) total += links[other];
  return total;
}

// Between the GPUs (each link twice) and from them to those beside.
int GpuTree::link_count(const GpuSet &gpus, const GpuSet &beside) const {
  if (links_.empty()) return 0;
  int total = 0;
  for (int gpu = gpus.next(0); gpu >= 0; gpu = gpus.next(gpu + 1))
    total += link_count(gpu, gpus) + 2 * link_count(gpu, beside);
  return total;
}

void GpuTree::remove(const GpuSet &gpus) {
  for (int gpu = gpus.next(0); gpu >= 0; gpu = gpus.next(gpu + 1))
    for (int group = leaf_of_gpu_[static_cast<std::size_t>(gpu)]; group >= 0; group = at(group).parent) {
      at(group).gpus.clear(gpu);
      --at(group).left;
      at(group).fresh = false;
    }
}

} // namespace

std::vector<std::vector<int>> choose_gpus(const NodeState &node, const Bits &suitable, int tasks, int gpus_per_task) {
  return choose_gpus(node, node.free_gpus, suitable, tasks, gpus_per_task);
}

std::vector<std::vector<int>> choose_gpus(const NodeState &node, const Bits &free, const Bits &suitable, int tasks,
                                          int gpus_per_task) {
  std::vector<std::vector<int>> chosen;
  if (tasks <= 0 || gpus_per_task <= 0) return chosen;
  GpuTree tree(node, free, suitable);
  if (gpus_per_task == 1) {
    for (int gpu : tree.pick(0, tasks, false).numbers()) chosen.push_back({gpu});
  } else {
    const int group = tasks == 1 ? 0 : tree.group_for(tasks, gpus_per_task);
    for (int task = 0; task < tasks; ++task) {
      const GpuSet gpus = tree.pick(group, gpus_per_task, true);
      chosen.push_back(gpus.numbers());
      tree.remove(gpus);
    }
  }
  std::sort(chosen.begin(), chosen.end());
  return chosen;
}

} // namespace harmony
