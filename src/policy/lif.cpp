// Least interference first: of diverse whole gangs the one that loses least by its neighbours and costs them least, by
// the linear interference rule with assumed rates. It never waits. With fitted rates: fitted_lif.h.

#include "src/plan/interference.h"
#include "src/policy/policies.h"
#include "src/policy/reward_model.h"

namespace harmony {
namespace {

class AssumedRates : public RewardModel {
public:
  Predicted predict(const Cluster &cluster, const Gang &gang, const Plan &plan) const override {
    return {predicted_speed(cluster, gang, plan), speed_alone(static_cast<int>(nodes_of(plan).size())),
            harm(cluster, gang, plan)};
  }
};

} // namespace

std::unique_ptr<Policy> make_lif() {
  return make_by_reward({"lif", "the best predicted speed, less what its neighbours lose"},
                        std::make_unique<AssumedRates>());
}

} // namespace harmony
