// Trains a policy in a gym: the best heuristic is found, weights for a linear scorer are searched for by simulation,
// the networks imitate that, and actor-critic goes on from there. What did best on other workloads is kept. The same
// options give the same policy on one machine.
#pragma once

#include "src/learn/gym.h"
#include "src/learn/policy_network.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace harmony {

// How a figure went while training.
struct Curve {
  std::string name, unit;
  std::vector<std::pair<double, double>> points;
};

struct TrainerOptions {
  std::uint64_t seed = 1;
  bool ppo = false;
  // Ablations: what is left out.
  bool value_network = true, exploration = true, replay = true, warm_start = true;
  int generations = 30, population = 20; // of the search
  int iterations = 20;                   // of actor-critic
  double omega = 0.1;
  std::vector<double> loads = {0.6, 0.75, 0.9};
  std::function<bool()> stop = [] { return false; };
  // The stage, the part of it that is done, and one line on how it goes.
  std::function<void(const std::string &stage, double part, const std::string &line)> progress =
      [](const std::string &, double, const std::string &) {};
  // The best weights so far, and the curves: for those who want to go on from there.
  std::function<void(const std::vector<float> &weights, const std::vector<Curve> &curves)> searched =
      [](const std::vector<float> &, const std::vector<Curve> &) {};
};

// Smallest and largest value that each feature had.
struct FeatureSpan {
  std::vector<float> low, high;
  void add(const float *row, std::size_t width);
};

struct TrainedPolicy {
  std::unique_ptr<PolicyNetwork> network;
  std::string best_heuristic, kept;                       // which stage's result was kept
  double against_best = 0;                                // on validation workloads, as a logarithm
  std::vector<std::pair<std::string, double>> heuristics; // against the linear rule's scorer, as logarithms
  std::vector<Curve> curves;
  FeatureSpan job, candidates, gangs;
  std::size_t experiences = 0, episodes = 0;
};

const std::vector<std::string> &teachers(); // the heuristics that are looked at

// `start`: weights to begin with (of a model in service), or empty. `reward`: what features are made with.
TrainedPolicy train_policy(Gym &gym, const std::vector<std::string> &types,
                           const std::shared_ptr<const RewardNetwork> &reward, const std::vector<float> &start,
                           const TrainerOptions &options);

} // namespace harmony
