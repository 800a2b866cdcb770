// What a gang would do to speeds, by some model: assumed rates, fitted ones, a network, or in a simulation the truth.
// Policies that compare whole gangs by it are made with make_by_reward (by_reward.cpp).
#pragma once

#include "src/plan/cluster.h"
#include "src/policy/policy.h"
#include "src/values/gang.h"
#include "src/values/plan.h"

#include <functional>
#include <memory>
#include <string>

namespace harmony {

struct Predicted {
  double speed = 1; // of the gang, relative to the best it could have
  double alone = 1; // the best that as many nodes could give it without neighbours
  double lost = 0;  // by its neighbours, summed over those jobs; each counts as much as the gang unless weighed
};

class RewardModel {
public:
  virtual ~RewardModel() = default;

  // The cluster must not have started the gang. Whether it may be asked from any thread is the model's to say.
  virtual Predicted predict(const Cluster &cluster, const Gang &gang, const Plan &plan) const = 0;
};

// Of diverse whole gangs the one with the largest speed less what its neighbours lose. It never waits.
struct ByReward {
  const char *name = "";   // must outlive the policy
  const char *reason = ""; // one sentence for the job's owner
};
std::unique_ptr<Policy> make_by_reward(const ByReward &who, std::unique_ptr<RewardModel> model);

} // namespace harmony
