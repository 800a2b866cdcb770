// Trains the members of a reward network on examples of a dataset. LibTorch is behind it (src/learn/torch).
#pragma once

#include "src/learn/training_data.h"

#include <cstdint>
#include <functional>
#include <vector>

namespace harmony {

struct RewardFitOptions {
  std::uint64_t seed = 1;
  int passes = 30; // over all examples
  int batch = 256;
  double rate = 4e-3;
  double decay = 1e-5; // of the layers: what few examples do not show is not to be made up
  // Told after each pass of each member: the part that is done and the mean loss; false stops it there.
  std::function<bool(double part, double loss)> progress;
};

// The parameters for RewardNetwork. `which`: the examples that are learned from. The same options give the same
// parameters on one machine. Throws std::runtime_error if there are none.
std::vector<float> fit_reward(const TrainingData &data, const std::vector<int> &which, const RewardFitOptions &options);

} // namespace harmony
