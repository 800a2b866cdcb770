#include "src/plan/rooms.h"

#include "src/plan/fit.h"

#include <algorithm>
#include <array>
#include <cstdint>

namespace harmony {
namespace {

// What makes nodes alike, packed: compared and hashed for every node of the cluster.
using Key = std::array<std::uint64_t, 4>;

bool same(const Key &a, const Key &b) { return a[0] == b[0] && a[1] == b[1] && a[2] == b[2] && a[3] == b[3]; }

Key key_of(const NodeClass &like) {
  const auto bits = [](int number) { return static_cast<std::uint64_t>(static_cast<std::uint32_t>(number)); };
  static_assert(max_cores < 1 << 18 && max_gpus < 1 << 10, "they have to fit below");
  return {bits(like.free_cores) | bits(like.cores) << 18 | bits(like.free_gpus) << 36 | bits(like.gpus) << 46 |
              bits(like.distributed) << 56 | bits(like.beside) << 57 | bits(like.required) << 58,
          bits(like.workers) | bits(like.tasks) << 32, bits(like.ps) | bits(like.weight) << 32,
          like.memory_mb << 15 | bits(like.free_memory) << 8 | bits(like.threads_per_core)};
}

// Open addressing over the classes found so far.
class ClassTable {
public:
  explicit ClassTable(Rooms &rooms) : rooms_(rooms), slots_(1024, -1) {}

  void add(int node, const NodeClass &like) {
    NodeClass &mine = rooms_.classes[find(like)];
    if (mine.count++ == 0)
      mine.first = node;
    else
      rooms_.next[static_cast<std::size_t>(mine.last)] = node;
    mine.last = node;
  }

private:
  static std::size_t hash(const Key &key) {
    constexpr std::uint64_t odd = 0x9e3779b97f4a7c15u, other = 0xc2b2ae3d27d4eb4fu;
    const std::uint64_t mixed = (key[0] ^ (key[1] << 7)) * odd ^ (key[2] ^ (key[3] << 9)) * other;
    return static_cast<std::size_t>(mixed ^ (mixed >> 32));
  }

  std::size_t find(const NodeClass &like) {
    const Key key = key_of(like);
    std::size_t at = hash(key) & (slots_.size() - 1);
    while (slots_[at] >= 0 && !same(keys_[static_cast<std::size_t>(slots_[at])], key))
      at = (at + 1) & (slots_.size() - 1);
    if (slots_[at] >= 0) return static_cast<std::size_t>(slots_[at]);
    slots_[at] = static_cast<int>(keys_.size());
    keys_.push_back(key);
    rooms_.classes.push_back(like);
    if (keys_.size() * 2 > slots_.size()) grow();
    return keys_.size() - 1;
  }

  void grow() {
    slots_.assign(slots_.size() * 2, -1);
    for (std::size_t i = 0; i < keys_.size(); ++i) {
      std::size_t at = hash(keys_[i]) & (slots_.size() - 1);
      while (slots_[at] >= 0) at = (at + 1) & (slots_.size() - 1);
      slots_[at] = static_cast<int>(i);
    }
  }

  Rooms &rooms_;
  std::vector<Key> keys_; // by class
  std::vector<int> slots_;
};

// Most counts are divided by 1, and a division takes longer than all else that is done with a node.
int divided(int what, int by) { return by == 1 ? what : what / by; }

struct Free {
  int cores = 0;
  int gpus = 0;
  std::uint64_t memory_mb = 0;
};

Free free_now(const NodeState &node, const Component &component) {
  const int gpus = component.gpus.model.empty() ? node.free_gpus.count() : suitable_gpus(node, component).count();
  return {node.free_cores.count(), gpus, node.free_memory_mb};
}

// What tenants hold counts as free. Cores are counted by tenant, because specialised cores are no tenant's.
Free free_when_empty(const NodeState &node, const Component &component) {
  Free free{node.free_cores.count(), node.free_gpus.size(), node.memory_mb};
  for (const Tenant &tenant : node.tenants) free.cores += tenant.cores;
  if (!component.gpus.model.empty())
    free.gpus = static_cast<int>(std::count(node.gpu_models.begin(), node.gpu_models.end(), component.gpus.model));
  return free;
}

class Counter {
public:
  Counter(const View &view, const Component &component, const Rooms &rooms)
      : component_(component), memory_counts_(view.cluster().memory_counts()), gpw_(rooms.gpus_per_worker),
        gpp_(rooms.gpus_per_ps), least_gpus_(least_gpus()) {}

  // Fills in the three numbers; false if not even one task fits.
  bool count(const NodeState &node, const Free &free, NodeClass &like) const {
    if (free.gpus < least_gpus_) return false;
    const int threads = std::max(1, node.threads_per_core);
    int cores = free.cores, gpus = free.gpus;
    if (memory_counts_) {
      if (component_.memory_per_node_mb > free.memory_mb) return false;
      if (component_.memory_per_cpu_mb)
        cores = static_cast<int>(
            std::min<std::uint64_t>(static_cast<std::uint64_t>(cores), free.memory_mb / component_.memory_per_cpu_mb /
                                                                           static_cast<std::uint64_t>(threads)));
      if (component_.memory_per_gpu_mb)
        gpus = static_cast<int>(
            std::min<std::uint64_t>(static_cast<std::uint64_t>(gpus), free.memory_mb / component_.memory_per_gpu_mb));
    }
    int tasks = tasks_by_cores(threads, cores);
    if (component_.tasks_per_node) tasks = std::min(tasks, component_.tasks_per_node);
    if (component_.gpus.per_node > gpus) return false;
    const int workers = gpw_ ? divided(gpus, gpw_) : tasks;
    const int ps = gpp_ ? divided(gpus, gpp_) : tasks;
    if (gpw_ && gpp_) tasks = std::min(tasks, gpus / std::min(gpw_, gpp_));
    return capped(workers, ps, tasks, like);
  }

  // The same by the functions that plans are made with.
  bool count_exactly(const NodeState &node, NodeClass &like) const {
    const int workers = std::max(0, most_workers(node, component_, 0, memory_counts_));
    const int ps = std::max(0, most_ps(node, component_, 0, memory_counts_));
    const int both = workers + std::max(0, most_ps(node, component_, workers, memory_counts_));
    return capped(workers, ps, both, like);
  }

private:
  int least_gpus() const {
    if (component_.gpus.per_node) return component_.gpus.per_node;
    const int task = component_.workers == 0 ? gpp_ : component_.ps == 0 ? gpw_ : std::min(gpw_, gpp_);
    return std::max(task, least_free_gpus(component_));
  }

  int tasks_by_cores(int threads, int cores) const {
    const int cpus = std::max(1, component_.cpus_per_task);
    if (component_.one_task_a_core || cpus >= threads) return divided(cores, divided(cpus + threads - 1, threads));
    return divided(cores * threads, cpus);
  }

  bool capped(int workers, int ps, int tasks, NodeClass &like) const {
    like.workers = std::min({workers, tasks, component_.workers});
    like.ps = std::min({ps, tasks, component_.ps});
    like.tasks = std::min(tasks, like.workers + like.ps);
    return like.tasks > 0;
  }

  const Component &component_;
  const bool memory_counts_;
  const int gpw_, gpp_, least_gpus_;
};

// The nodes' bits and tenants lie all over the memory, and waiting for them is most of what a look at a large cluster
// costs; asked for a few nodes ahead, they are there in time.
void prefetch(const std::vector<NodeState> &nodes, int index, bool tenants) {
  constexpr int ahead = 12;
  const auto at = static_cast<std::size_t>(index + ahead);
  if (at >= nodes.size()) return;
  __builtin_prefetch(nodes[at].free_gpus.words().data());
  __builtin_prefetch(nodes[at].free_cores.words().data());
  if (tenants) __builtin_prefetch(nodes[at].tenants.data());
}

// The numbers of one node; false if it takes no task. `node` is as the view sees it, unless it is to be emptied first.
bool describe(const View &view, const Component &component, const Counter &counter, const NodeState &node, int index,
              bool as_empty, Rooms &rooms, NodeClass &like) {
  if (!as_empty && (node.whole_taken || (component.whole_nodes && !node.tenants.empty()))) return false;
  const Free free = as_empty ? free_when_empty(node, component) : free_now(node, component);
  rooms.most_free_gpus = std::max(rooms.most_free_gpus, free.gpus);
  rooms.most_free_cores = std::max(rooms.most_free_cores, free.cores);
  const bool exactly = !view.trusting() || (!view.distrusted().empty() && view.distrusted().count(index));
  if (!(exactly ? counter.count_exactly(view.node(index), like) : counter.count(node, free, like))) return false;
  like.gpus = node.free_gpus.size();
  like.free_gpus = free.gpus;
  like.cores = node.free_cores.size();
  like.free_cores = free.cores;
  like.memory_mb = node.memory_mb;
  like.free_memory = free.memory_mb >= node.memory_mb ? 64 : static_cast<int>(free.memory_mb * 64 / node.memory_mb);
  like.threads_per_core = std::max(1, node.threads_per_core);
  like.weight = node.weight;
  like.required = component.required.test(index);
  return true;
}

void find_required_missing(const Component &component, Rooms &rooms) {
  const int required = component.required.count();
  if (required == 0) return;
  Bits found(component.required.size());
  for (const NodeClass &one : rooms.classes)
    for (int i = one.required ? one.first : -1; i >= 0; i = rooms.next[static_cast<std::size_t>(i)]) found.set(i);
  Bits missing = component.required;
  missing -= found;
  rooms.required_missing = missing.first();
}

} // namespace

NodeState emptied(const NodeState &node) {
  NodeState empty = node;
  int taken = 0;
  for (const Tenant &tenant : node.tenants) {
    taken += tenant.cores;
    Bits gpus(empty.free_gpus.size());
    gpus |= tenant.gpus;
    empty.free_gpus |= gpus;
  }
  for (int core = 0; core < empty.free_cores.size() && taken > 0; ++core) {
    if (empty.free_cores.test(core)) continue;
    empty.free_cores.set(core);
    --taken;
  }
  empty.free_memory_mb = empty.memory_mb;
  empty.whole_taken = false;
  empty.tenants.clear();
  return empty;
}

const NodeState &View::node(int index) const {
  const auto changed = changed_.find(index);
  if (changed != changed_.end()) return changed->second;
  if (!empty_) return cluster_.node(index);
  return changed_.emplace(index, emptied(cluster_.node(index))).first->second;
}

void View::take(const Component &component, const Placement &placement) {
  // A cluster of that node alone, so that taking is the same arithmetic everywhere.
  Snapshot only;
  only.memory_counts = cluster_.memory_counts();
  only.nodes.push_back(node(placement.node));
  Cluster alone(only);
  Placement here = placement;
  here.node = 0;
  alone.take(component, here);
  changed_[placement.node] = alone.node(0);
}

Rooms find_rooms(const View &view, const Component &component, const std::vector<int> &beside, bool know_distributed) {
  Rooms rooms;
  rooms.gpus_per_node = component.gpus.per_node;
  if (!rooms.gpus_per_node) {
    rooms.gpus_per_worker = gpus_per_worker(component);
    rooms.gpus_per_ps = gpus_per_ps(component);
  }
  rooms.cpus_per_task = std::max(1, component.cpus_per_task);
  const std::vector<NodeState> &nodes = view.cluster().nodes();
  rooms.next.assign(nodes.size(), -1);
  ClassTable table(rooms);
  const Counter counter(view, component, rooms);
  auto changed = view.changed().begin();
  std::size_t at_beside = 0;
  const int end = std::min(component.eligible.size(), static_cast<int>(nodes.size()));
  for (int i = component.eligible.first(); i >= 0 && i < end; i = component.eligible.next(i + 1)) {
    prefetch(nodes, i, view.empty() || know_distributed);
    const NodeState *node = &nodes[static_cast<std::size_t>(i)];
    if (!node->usable) continue;
    ++rooms.usable;
    rooms.largest_gpus = std::max(rooms.largest_gpus, node->free_gpus.size());
    rooms.largest_cpus = std::max(rooms.largest_cpus, node->free_cores.size() * std::max(1, node->threads_per_core));
    while (changed != view.changed().end() && changed->first < i) ++changed;
    const bool is_changed = changed != view.changed().end() && changed->first == i;
    if (is_changed) node = &changed->second;
    NodeClass like;
    if (!describe(view, component, counter, *node, i, view.empty() && !is_changed, rooms, like)) continue;
    like.distributed = know_distributed && !view.empty() && view.cluster().distributed_on(i) > 0;
    while (at_beside < beside.size() && beside[at_beside] < i) ++at_beside;
    like.beside = at_beside < beside.size() && beside[at_beside] == i;
    table.add(i, like);
  }
  find_required_missing(component, rooms);
  return rooms;
}

Rooms without(const Rooms &rooms, const std::vector<int> &nodes) {
  Rooms rest = rooms;
  for (NodeClass &one : rest.classes) {
    const NodeClass before = one;
    one.first = one.last = -1;
    one.count = 0;
    for (int i = before.first, following; i >= 0; i = following) {
      following = rest.next[static_cast<std::size_t>(i)];
      rest.next[static_cast<std::size_t>(i)] = -1;
      if (std::binary_search(nodes.begin(), nodes.end(), i)) continue;
      if (one.count++ == 0)
        one.first = i;
      else
        rest.next[static_cast<std::size_t>(one.last)] = i;
      one.last = i;
    }
  }
  return rest;
}

} // namespace harmony
