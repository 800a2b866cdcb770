#include "tests/emulator/gang_roles.h"

#include <algorithm>

namespace harmony {

void give_out_roles(std::vector<TasksOn> &nodes, int workers, int gpus_per_worker) {
  std::vector<int> tasks;
  int surplus = -workers;
  for (TasksOn &node : nodes) {
    tasks.push_back(node.workers);
    if (gpus_per_worker > 0) node.workers = std::min(node.workers, node.gpus.count() / gpus_per_worker);
    surplus += node.workers;
  }
  for (const int keep : {1, 0})
    for (bool moved = true; moved && surplus > 0;) {
      moved = false;
      for (TasksOn &node : nodes)
        if (surplus > 0 && node.workers > keep) {
          --node.workers;
          --surplus;
          moved = true;
        }
    }
  for (std::size_t i = 0; i < nodes.size(); ++i)
    for (; surplus < 0 && nodes[i].workers < tasks[i]; ++surplus) ++nodes[i].workers;
  for (std::size_t i = 0; i < nodes.size(); ++i) nodes[i].ps = tasks[i] - nodes[i].workers;
}

} // namespace harmony
