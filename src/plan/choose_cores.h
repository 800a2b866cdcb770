// Which cores of a node its tasks get: those of the NUMA node of a task's GPUs, else of its socket; for tasks without
// GPUs those that the node's free GPUs will miss least.
#pragma once

#include "src/values/bits.h"
#include "src/values/snapshot.h"

#include <vector>

namespace harmony {

struct TaskShare {
  int cores = 0; // 0: on a core of the task before it
  std::vector<int> gpus;
};

// Exactly the cores that the tasks ask for; so many must be free. The tasks' GPUs may still count as free on the node.
Bits choose_cores(const NodeState &node, const std::vector<TaskShare> &tasks);

} // namespace harmony
