// Judges a new policy: on workloads of jobs that were not trained on, in a physics that it was not trained in, beside
// the one in service and the heuristics.
#pragma once

#include "src/learn/gym.h"
#include "src/learn/policy_network.h"
#include "src/sim/result.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace harmony {

// Another policy's mean JCT relative to the candidate's: above 1 the candidate is better. Over workloads, paired.
struct Rival {
  std::string name;
  double mean_jct_s = 0;
  Mean against; // its JCT / the candidate's, as logarithms
};

struct Verdicts {
  double candidate_jct_s = 0;
  std::vector<Rival> rivals; // heuristics, and the model in service if there is one
  std::string best_heuristic;
  std::size_t workloads = 0;
  bool better = false; // it may be published
  std::string why;     // one line
};

constexpr const char *in_service = "in service", *shipped = "shipped";

struct JudgeOptions {
  int seeds = 6;
  std::vector<double> loads = {0.7, 0.9};
  std::function<void(double part, const std::string &line)> progress = [](double, const std::string &) {};
};

// `served`: the model in service, with the types that it knows; its network may be nullptr.
struct Served {
  PolicyNetwork *network = nullptr;
  bool in_use = false; // a version that somebody took in use, not the one that is there without any
  std::vector<std::string> types;
  std::shared_ptr<const RewardNetwork> reward;
};
Verdicts judge(Gym &gym, const Served &candidate, const Served &served, const JudgeOptions &options);

} // namespace harmony
