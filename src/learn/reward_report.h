// How good a reward network is on what it was not trained on. Pure functions.
#pragma once

#include "src/learn/training_data.h"
#include "src/reward/reward_network.h"

#include <cstdint>
#include <string>
#include <vector>

namespace harmony {

// Which examples a network is trained on to be tested on the rest: runs of their own, the last part of the time, pairs
// of types that it never met, and a type that it never met.
struct RewardSplit {
  std::vector<int> train, runs, time, pairs, of_type;
  std::vector<int> beside_type; // others that met the held-out type: neither trained nor tested on
  int held_out_type = 0;        // index; 0: none
};
RewardSplit split_examples(const TrainingData &data, std::uint64_t seed);

struct RewardErrors {
  std::string on; // "unseen runs"
  std::size_t examples = 0;
  double median = 0, p90 = 0;  // relative errors
  double rank_correlation = 0; // Spearman's
  double within_doubt = 0;     // part of the speeds within two standard deviations of the members (at least 2 %)
};
// `hidden`: jobs of this type are told as unknown; 0: none.
RewardErrors reward_errors(const TrainingData &data, const std::vector<int> &which, const RewardNetwork &network,
                           const std::string &on, int hidden = 0);

std::vector<RewardErrors> reward_report(const TrainingData &data, const RewardSplit &split,
                                        const RewardNetwork &network);

} // namespace harmony
