#include "src/sim/truth/truth.h"

#include <map>

namespace harmony {

Occupant occupant(const Gang &gang, const Plan &plan) {
  Occupant made;
  made.type = gang.type;
  made.workers = gang.workers();
  made.ps = gang.ps();
  std::map<int, TasksOn> by_node;
  for (const Placement &placement : plan.placements) {
    TasksOn &tasks = by_node[placement.node];
    tasks.node = placement.node;
    tasks.workers += placement.workers;
    tasks.ps += placement.ps;
    tasks.cores += placement.cores.count();
    tasks.gpus.join(placement.gpus);
  }
  made.where.reserve(by_node.size());
  for (auto &[node, tasks] : by_node) made.where.push_back(std::move(tasks));
  return made;
}

} // namespace harmony
