// What each task of a gang finds in its environment, in the forms frameworks read. Pure.
//
// Ports are distinct over the whole gang, not only on a host: base + i for worker i, then one for each PS, then DMLC's
// root, then torch's master.
#pragma once

#include "src/run/gang_layout.h"

namespace harmony {

struct RoleEnvironment {
  Environment set;
  std::vector<std::string> unset; // what must not leak into the task from the job's own environment
  std::string problem;
};

// index counts the tasks of the role over all nodes.
RoleEnvironment role_environment(const GangLayout &layout, Role role, int index);

// The index of a task on its node, by its number among the role's tasks there; -1 if the layout has no such task.
int task_index(const GangLayout &layout, Role role, const std::string &node, int local);

// host:port of every task of a role, in order; IPv6 addresses in brackets.
std::vector<std::string> role_hosts(const GangLayout &layout, Role role);

} // namespace harmony
