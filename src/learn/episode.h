// One simulated workload under a policy that is being trained: what was decided, and what came of it. The planner, the
// proposals and their features are those of slurmctld. For one thread.
#pragma once

#include "src/infer/model.h"
#include "src/learn/policy_network.h"
#include "src/policy/policy.h"
#include "src/reward/reward_network.h"
#include "src/sim/simulate.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace harmony {

using ScoreGangs = std::function<std::vector<float>(const JobRow &, const Rows &)>;

// How an episode decides.
struct Deciding {
  std::vector<std::string> types; // that the features know
  std::shared_ptr<const RewardNetwork> reward;
  ScoreGangs score;                // of whole gangs and waiting
  Model *tasks = nullptr;          // scores tasks: one more gang is proposed; nullptr: not
  bool sample = false;             // draws by the scores' softmax instead of taking the best
  double omega = 0;                // with this probability follows best fit or load balancing, whichever comes
  bool record = false;             // keeps experiences
  bool record_tasks = false;       // also how the chosen gangs come about
  std::uint64_t seed = 1;
};

struct RewardRule {
  double interval_s = 1200; // every decision in an interval gets its reward: the parts of their work that jobs did
  double discount = 0.9;    // from interval to interval
};

struct Episode {
  double mean_jct_s = 0;
  std::vector<Experience> experiences; // advised is filled in
};

// The options' settings are used; `input.truth` is the physics.
Episode run_episode(const SimInput &input, const SimOptions &options, const Deciding &deciding,
                    const RewardRule &rule = {});

double mean_jct(const SimResult &result);

} // namespace harmony
