#include "src/plan/interference.h"
#include "src/plan/place.h"
#include "src/reward/reward_model.h"

#include <algorithm>
#include <cmath>

namespace harmony {
namespace {

int gpus_on(const Cluster &cluster, const Plan &plan, const Running *job) {
  int gpus = 0;
  for (const int node : nodes_of(plan))
    for (const Tenant &tenant : cluster.node(node).tenants)
      if (&cluster.job_of(tenant) == job) gpus += tenant.gpus.count();
  return gpus;
}

class AssumedReward : public RewardModel {
public:
  Predicted predict(const Cluster &cluster, const Gang &gang, const Plan &plan) const override {
    Predicted predicted{predicted_speed(cluster, gang, plan), speed_alone(static_cast<int>(nodes_of(plan).size())),
                        harmony::harm(cluster, gang, plan)};
    for (const NeighbourTerms &its : neighbour_terms(cluster, plan))
      predicted.harm += (speed_by(its.before) / speed_by(its.after) - 1) * std::max(1, gpus_on(cluster, plan, its.job));
    // Rounded, because sums in another order differ in the last digits.
    predicted.harm = std::round(predicted.harm / std::max(1, gang.gpus()) * 65536) / 65536;
    // As if all ran side by side for as long as the gang does.
    predicted.delay = predicted.lost;
    predicted.gpu_delay = predicted.harm;
    return predicted;
  }
};

} // namespace

std::unique_ptr<RewardModel> make_assumed_reward() { return std::make_unique<AssumedReward>(); }

} // namespace harmony
