// Policies that compare whole gangs by a reward model.
#pragma once

#include "src/policy/policy.h"
#include "src/reward/reward_model.h"

#include <memory>

namespace harmony {

// Of diverse whole gangs the one with the largest speed less what its neighbours lose. It never waits.
struct ByReward {
  const char *name = "";   // must outlive the policy
  const char *reason = ""; // one sentence for the job's owner
};
std::unique_ptr<Policy> make_by_reward(const ByReward &who, std::unique_ptr<RewardModel> model);

} // namespace harmony
