#include "src/plan/view.h"

#include <utility>

namespace harmony {

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
  NodeState taken = node(placement.node);
  take_from(taken, component, placement, cluster_.memory_counts());
  changed_[placement.node] = std::move(taken);
}

} // namespace harmony
