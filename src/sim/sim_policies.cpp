#include "src/sim/sim_policies.h"

#include "src/plan/fit.h"
#include "src/plan/place.h"
#include "src/policy/fitted_lif.h"
#include "src/policy/policies.h"
#include "src/record/dataset_reader.h"
#include "src/sim/stock/cons_tres.h"
#include "src/sim/oracle/oracle.h"
#include "src/sim/random_policy.h"

#include <fmt/format.h>

#include <stdexcept>
#include <utility>

namespace harmony {
namespace {

// Where slurmctld would place it without us. --gpus divides GPUs over nodes otherwise than tasks; such a gang is left
// to stock, which is the same choice, because the planner's guard would not let it pass as a plan.
class SimulatedStock : public Policy {
public:
  const char *name() const override { return "stock"; }

  Proposal propose(const Cluster &cluster, const Gang &gang, bool) const override {
    auto plan = cons_tres_choice(cluster, gang);
    if (!plan) {
      Proposal proposal;
      proposal.verdict = Verdict::no_room;
      proposal.reason = "stock selection finds no room";
      return proposal;
    }
    for (const Placement &placement : plan->placements) {
      const Component &component = gang.components[static_cast<std::size_t>(placement.component)];
      if (placement.gpus.count() != gpus_needed(component, placement.workers, placement.ps))
        return {Verdict::left_to_stock, {}, "stock selection divides the GPUs otherwise than the workers", {}, {}};
    }
    return place_at({packed(cluster, std::move(*plan), "as select/cons_tres")}, "as stock selection does");
  }
};

struct Known {
  const char *name;
  const char *about;
  std::unique_ptr<Policy> (*make)(const PolicyNeeds &); // nullptr: by make_policy
};

FittedInterference fitted(const PolicyNeeds &needs, const char *name, Degree degree) {
  if (needs.dataset.empty())
    throw std::runtime_error(fmt::format(
        "policy {} is fitted from a dataset and none is given; write one with --dataset-out DIR first", name));
  const std::vector<IntervalRecord> records = read_intervals(needs.dataset);
  if (records.empty())
    throw std::runtime_error(fmt::format("policy {}: there are no intervals in the dataset {}", name, needs.dataset));
  return fit_interference(records, degree);
}

const Truth &rules_of(const PolicyNeeds &needs, const char *name) {
  if (!needs.rules) throw std::runtime_error(fmt::format("policy {} needs a ground truth, and there is none", name));
  return *needs.rules;
}

const std::vector<Known> &known() {
  using Needs = const PolicyNeeds &;
  static const std::vector<Known> all{
      {"stock", "what select/cons_tres would choose",
       [](Needs) -> std::unique_ptr<Policy> { return std::make_unique<SimulatedStock>(); }},
      {"pack", "the fewest nodes, then least left over", nullptr},
      {"spread", "load balancing: each task on the least loaded node", nullptr},
      {"tetris", "each task where free resources match its demand best", nullptr},
      {"lif", "least interference first, by assumed rates", nullptr},
      {"lif-linear", "least interference first, by rates fitted from a dataset",
       [](Needs needs) { return make_fitted_lif(fitted(needs, "lif-linear", Degree::linear)); }},
      {"lif-quadratic", "the same with a quadratic model",
       [](Needs needs) { return make_fitted_lif(fitted(needs, "lif-quadratic", Degree::quadratic)); }},
      {"one-distributed", "at most one distributed job on a node; waits for that", nullptr},
      {"one-distributed-soft", "the same where there is room, without waiting", nullptr},
      {"cons1", "waits for the fewest nodes without another distributed job", nullptr},
      {"tiresias-skew", "the fewest nodes for skewed models only, left-over GPUs for others", nullptr},
      {"optimus-even", "evenly on the fewest of the nodes with most room", nullptr},
      {"random", "each task on a random node with room", [](Needs needs) { return make_random(needs.seed); }},
      {"greedy", "the largest reward by the fitted quadratic model",
       [](Needs needs) { return make_greedy(fitted(needs, "greedy", Degree::quadratic)); }},
      {"oracle-greedy", "the largest sum of speeds by the truth",
       [](Needs needs) { return make_oracle_greedy(rules_of(needs, "oracle-greedy")); }},
      {"oracle-linear", "a linear scorer with waiting that knows the truth",
       [](Needs needs) { return make_oracle_linear(rules_of(needs, "oracle-linear"), needs.queue_length); }},
      {"oracle-exhaustive", "every placement tried in the truth, where there are few",
       [](Needs needs) { return make_oracle_exhaustive(rules_of(needs, "oracle-exhaustive")); }}};
  return all;
}

} // namespace

std::vector<PolicyName> sim_policy_names() {
  std::vector<PolicyName> names;
  for (const Known &one : known()) names.push_back({one.name, one.about});
  return names;
}

std::unique_ptr<Policy> make_sim_policy(const std::string &name, const PolicyNeeds &needs) {
  std::string names;
  for (const Known &one : known()) {
    if (name == one.name) return one.make ? one.make(needs) : make_policy(name);
    names += (names.empty() ? "" : ", ") + std::string(one.name);
  }
  throw std::runtime_error(fmt::format("there is no policy '{}'; there are {}, learned, no-interference", name, names));
}

} // namespace harmony
