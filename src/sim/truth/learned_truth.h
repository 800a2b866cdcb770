// The reward network as the physics of a simulation: what a policy is trained in, when the cluster's own is known from
// its dataset alone. Speeds are relative, so a job at its best does about an epoch a second. For one thread.
#pragma once

#include "src/reward/reward_network.h"
#include "src/sim/input/sim_cluster.h"
#include "src/sim/truth/truth.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace harmony {

struct LearnedPhysics {
  std::shared_ptr<const RewardNetwork> network;
  std::vector<std::string> types;         // that it knows
  std::map<std::string, double> model_kb; // declared sizes, by type
  int member = -1;                        // whose word counts; -1: the mean of all
};

std::unique_ptr<Truth> make_learned_truth(const SimCluster &cluster, const LearnedPhysics &physics);

} // namespace harmony
