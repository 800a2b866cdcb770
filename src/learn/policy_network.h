// The policy as it is trained: the scorer of tasks, the scorer of whole gangs, and the value network, in one
// TorchScript module whose methods are the ones that slurmctld runs. LibTorch is behind it (src/learn/torch).
//
// Asking may be done from several threads at once, while nobody trains.
#pragma once

#include "src/infer/model.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace harmony {

enum class Level { task, gang };

// A decision that was made, as it is learned from.
struct Experience {
  Level level = Level::gang;
  JobRow job;
  Rows rows;
  int chosen = 0;
  float advised = 0;  // what came of it: the discounted reward of the intervals from then on
  float log_prob = 0; // of the choice, when it was made; NaN: it was not the policy's own
};

struct LearningOptions {
  double rate = 3e-4;
  double entropy = 0.01;
  bool value_network = true; // false: the mean return is the baseline
  bool ppo = false;          // several passes with a clipped ratio instead of one
  double clip = 0.2;
};

// What one mini-batch did.
struct LearningResult {
  double policy_loss = 0, value_loss = 0, entropy = 0;
};

class PolicyNetwork : public Model {
public:
  // Made anew, from a seed.
  PolicyNetwork(int types, std::uint64_t seed);
  // Of a model.pt that save() wrote. Throws std::runtime_error.
  PolicyNetwork(int types, const std::string &file);
  ~PolicyNetwork() override;

  std::unique_ptr<PolicyNetwork> copy() const;

  std::vector<float> score_candidates(const JobRow &job, const Rows &candidates) override;
  std::vector<float> score_gangs(const JobRow &job, const Rows &gangs) override;
  std::vector<float> reward_parameters() override;
  float value(const JobRow &job) const;

  // Weights of a gang's features that are added to what the layers say: the part that is searched for by simulation.
  std::vector<float> gang_weights() const;
  void set_gang_weights(const std::vector<float> &weights);
  void set_reward_parameters(const std::vector<float> &parameters);

  // One mini-batch: makes the choices likelier; returns the mean cross-entropy before.
  double imitate(const std::vector<const Experience *> &batch, double rate);
  // One mini-batch of advantage actor-critic, or of proximal policy optimisation.
  LearningResult learn(const std::vector<const Experience *> &batch, const LearningOptions &options);

  // Every parameter, for comparisons and tests.
  std::vector<float> parameters() const;

  void save(const std::string &file) const;
  static std::string torch_version();

private:
  struct Parts;
  explicit PolicyNetwork(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

} // namespace harmony
