// The emulation of select/cons_tres, second part: which nodes, then how many tasks, which cores and which GPUs on each.
#pragma once

#include "src/sim/stock/node.h"

#include <optional>
#include <vector>

namespace harmony {

// choose_nodes() and _eval_nodes(): those of the nodes (ascending) that it takes, with the cores and CPUs that the job
// may use on each. Nothing if they do not do.
std::optional<std::vector<StockNode>> stock_choose_nodes(std::vector<StockNode> nodes, StockJob job,
                                                         const Bits &required);

// dist_tasks(): by chosen node; leaves in `cores` what the tasks get.
std::vector<int> stock_tasks(std::vector<StockNode> &nodes, const StockJob &job);

// gres_select_filter_select_and_set(): by chosen node. Nothing if they are too few after all.
std::optional<std::vector<Bits>> stock_gpus(const std::vector<StockNode> &nodes, const std::vector<int> &tasks,
                                            const StockJob &job);

} // namespace harmony
