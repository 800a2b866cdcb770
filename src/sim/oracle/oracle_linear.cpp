// A linear scorer over features of whole gangs, with waiting among the choices.

#include "src/policy/diverse.h"
#include "src/policy/policies.h"
#include "src/sim/oracle/oracle.h"
#include "src/sim/oracle/oracle_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

namespace harmony {
namespace {

constexpr int longest_queue = 32;

// Of what a plan does besides speeds.
struct Shape {
  int nodes = 0;
  double stranded = 0, distributed = 0, ps_apart = 0;
};

Shape shape_of(const Cluster &cluster, const Gang &gang, const Plan &plan) {
  struct Tasks {
    int workers = 0, ps = 0;
  };
  std::map<int, Tasks> by_node;
  for (const Placement &placement : plan.placements) {
    by_node[placement.node].workers += placement.workers;
    by_node[placement.node].ps += placement.ps;
  }
  Shape shape;
  shape.nodes = static_cast<int>(by_node.size());
  int gpus = 0, met = 0, apart = 0;
  for (const auto &[node, tasks] : by_node) {
    gpus += cluster.node(node).free_gpus.size();
    met += cluster.distributed_on(node);
    if (tasks.workers == 0) apart += tasks.ps;
  }
  if (gpus) shape.stranded = static_cast<double>(gpus_stranded(cluster, plan)) / gpus;
  if (shape.nodes > 1) shape.distributed = static_cast<double>(met) / shape.nodes;
  if (gang.ps()) shape.ps_apart = static_cast<double>(apart) / gang.ps();
  return shape;
}

class OracleLinear : public Policy {
public:
  OracleLinear(const Truth &rules, std::function<int()> queue_length, const LinearWeights &weights)
      : model_(rules), queue_length_(std::move(queue_length)), weights_(weights) {}
  const char *name() const override { return "oracle-linear"; }

  Proposal propose(const Cluster &cluster, const Gang &gang, bool may_wait) const override {
    GangPlacer placer(cluster, gang, true);
    model_.follow(cluster);
    std::vector<Considered> all;
    each_diverse_gang(
        placer, gang,
        [&](Plan plan, const char *what) {
          const double cost = cost_of(cluster, gang, plan);
          all.push_back({std::move(plan), -cost, fmt::format("{}: costs {:.2f}", what, cost)});
        },
        [] { return true; });
    if (all.empty()) return no_room_for(placer);
    std::stable_sort(all.begin(), all.end(),
                     [](const Considered &a, const Considered &b) { return a.score > b.score; });
    const double waiting = cost_of_waiting(cluster, gang);
    if (may_wait && waiting < -all.front().score)
      return wait_for(fmt::format("waiting costs {:.2f}, the best place now {:.2f}", waiting, -all.front().score), all);
    return place_at(std::move(all), "costs least by the linear scorer");
  }

private:
  double cost_of(const Cluster &cluster, const Gang &gang, const Plan &plan) const {
    const Outlook found = model_.outlook(cluster, gang, plan);
    const Shape shape = shape_of(cluster, gang, plan);
    const int fewest = std::max(1, model_.best(cluster, gang).nodes);
    const double own = found.best / found.speed - 1;
    double lost = 0;
    for (const Felt &felt : found.neighbours) lost += (felt.before / felt.after - 1) * std::max(1, felt.gpus);
    lost /= std::max(1, gang.gpus());
    const int queue = queue_length_ ? std::clamp(queue_length_(), 0, longest_queue) : 0;
    return weights_.own * own + weights_.neighbours * lost + weights_.queue * queue * (own + lost) +
           weights_.more_nodes * std::max(0, shape.nodes - fewest) / fewest + weights_.stranded * shape.stranded +
           weights_.distributed * shape.distributed + weights_.ps_apart * shape.ps_apart;
  }

  double cost_of_waiting(const Cluster &cluster, const Gang &gang) const {
    const double limit = std::max(60.0, 60.0 * gang.time_limit_min);
    const auto until_end = static_cast<double>(std::max<std::time_t>(0, cluster.next_end() - cluster.now()));
    const auto waited = static_cast<double>(std::max<std::time_t>(0, cluster.now() - gang.eligible_since));
    return weights_.wait + weights_.next_end * until_end / limit + weights_.age * waited / limit;
  }

  const TrueModel model_;
  const std::function<int()> queue_length_;
  const LinearWeights weights_;
};

} // namespace

std::unique_ptr<Policy> make_oracle_linear(const Truth &rules, std::function<int()> queue_length,
                                           const LinearWeights &weights) {
  return std::make_unique<OracleLinear>(rules, std::move(queue_length), weights);
}

} // namespace harmony
