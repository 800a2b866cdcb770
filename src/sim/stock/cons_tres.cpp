#include "src/sim/stock/cons_tres.h"

#include "src/plan/fit.h"
#include "src/plan/place.h"
#include "src/sim/stock/choice.h"

#include <algorithm>
#include <map>
#include <memory>
#include <tuple>

namespace harmony {
namespace {

// Who of the tasks is what, as `harmony run` says where there is no plan: as many workers as a node has tasks and GPUs
// for, the first nodes give workers up to PS in turns; and where that makes too few, workers without GPUs of their own.
void give_roles(const Component &component, std::vector<Placement> &placements, const std::vector<int> &tasks) {
  const int each_worker = component.gpus.per_node ? 0 : gpus_per_worker(component);
  int surplus = -component.workers;
  for (std::size_t i = 0; i < placements.size(); ++i) {
    const int gpus = placements[i].gpus.count();
    placements[i].workers = each_worker ? std::min(tasks[i], gpus / each_worker) : tasks[i];
    surplus += placements[i].workers;
  }
  for (const int keep : {1, 0})
    for (bool moved = true; moved && surplus > 0;) {
      moved = false;
      for (Placement &each : placements)
        if (surplus > 0 && each.workers > keep) {
          --each.workers;
          --surplus;
          moved = true;
        }
    }
  for (std::size_t i = 0; i < placements.size(); ++i)
    for (; surplus < 0 && placements[i].workers < tasks[i]; ++surplus) ++placements[i].workers;
  for (std::size_t i = 0; i < placements.size(); ++i) placements[i].ps = tasks[i] - placements[i].workers;
}

// By topology, which nodes share.
using Wirings = std::map<std::tuple<const Topology *, int, int>, std::shared_ptr<const StockWiring>>;

const std::shared_ptr<const StockWiring> &wiring_of(const NodeState &node, Wirings &known) {
  auto &wiring = known[{node.topology.get(), node.free_cores.size(), node.free_gpus.size()}];
  if (!wiring) wiring = stock_wiring(node);
  return wiring;
}

std::optional<std::vector<StockNode>> choose_nodes(const Cluster &cluster, const Component &component,
                                                   const StockJob &job, const std::vector<int> &not_on,
                                                   bool all_cores) {
  std::vector<StockNode> nodes;
  Wirings wirings;
  for (int i = 0; i < cluster.size(); ++i) {
    StockNode node;
    const NodeState &state = cluster.node(i);
    if (std::binary_search(not_on.begin(), not_on.end(), i)) continue;
    if (stock_node(state, i, component, job, cluster.memory_counts(), wiring_of(state, wirings), all_cores, node))
      nodes.push_back(std::move(node));
  }
  return stock_choose_nodes(std::move(nodes), job, component.required);
}

bool choose_for(const Cluster &cluster, const Component &component, int index, const std::vector<int> &not_on,
                Plan &plan) {
  const StockJob job(component);
  auto chosen = choose_nodes(cluster, component, job, not_on, false);
  // _job_test() asks first whether it could start if no core were in use. Since it does not look at every set of nodes,
  // that can fail where the real question would not.
  if (!chosen || !choose_nodes(cluster, component, job, not_on, true)) return false;
  const std::vector<int> tasks = stock_tasks(*chosen, job);
  const auto gpus = stock_gpus(*chosen, tasks, job);
  if (!gpus) return false;
  std::vector<Placement> placements;
  for (std::size_t i = 0; i < chosen->size(); ++i) {
    Placement made;
    made.component = index;
    made.node = (*chosen)[i].index;
    made.node_name = cluster.node(made.node).name;
    made.cores = (*chosen)[i].cores;
    made.gpus = Bits(cluster.node(made.node).free_gpus.size());
    made.gpus |= (*gpus)[i];
    placements.push_back(std::move(made));
  }
  give_roles(component, placements, tasks);
  for (Placement &each : placements) plan.placements.push_back(std::move(each));
  return true;
}

} // namespace

std::optional<Plan> cons_tres_choice(const Cluster &cluster, const Gang &gang) {
  Plan plan;
  // Stock backfill never puts two components of a hetjob on one node.
  for (std::size_t i = 0; i < gang.components.size(); ++i)
    if (!choose_for(cluster, gang.components[i], static_cast<int>(i), nodes_of(plan), plan)) return std::nullopt;
  if (plan.placements.empty()) return std::nullopt;
  return plan;
}

} // namespace harmony
