// What a gang would do to speeds, by some model: assumed rates, fitted ones, a network, or in a simulation the truth.
#pragma once

#include "src/plan/cluster.h"
#include "src/values/gang.h"
#include "src/values/plan.h"

#include <memory>

namespace harmony {

struct Predicted {
  double speed = 1;     // of the gang, relative to the best it could have
  double alone = 1;     // the best that as many nodes could give it without neighbours
  double lost = 0;      // by its neighbours, summed over those jobs; each counts as much as the gang unless weighed
  double harm = 0;      // GPU time that its neighbours lose by it, in parts of the gang's own
  double delay = 0;     // how much later its neighbours end by it, all together, in parts of its own usual time
  double gpu_delay = 0; // the same, each job by its GPUs, in parts of the gang's own GPU time
  double doubt = 0;     // how far the model's own opinions on `speed` lie apart: their standard deviation
};

class RewardModel {
public:
  virtual ~RewardModel() = default;

  // The cluster must not have started the gang. Whether it may be asked from any thread is the model's to say.
  virtual Predicted predict(const Cluster &cluster, const Gang &gang, const Plan &plan) const = 0;
};

// The linear interference rule with assumed rates; may be asked from any thread.
std::unique_ptr<RewardModel> make_assumed_reward();

} // namespace harmony
