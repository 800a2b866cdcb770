// Who of a gang's tasks is worker and who is PS, by where they are. Pure.
#pragma once

#include "src/sim/truth/truth.h"

#include <vector>

namespace harmony {

// By the rule of `harmony run`: a node has as many workers as it has tasks and GPUs for, first nodes give workers up to
// PS in turns where these are too many. Where they are too few, which stock selection can bring about, workers go
// without GPUs of their own, as in the simulator. Before, `workers` counts all tasks of a node.
void give_out_roles(std::vector<TasksOn> &nodes, int workers, int gpus_per_worker);

} // namespace harmony
