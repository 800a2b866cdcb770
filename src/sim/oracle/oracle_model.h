// What a gang would really do to speeds: the ground truth of the simulation, asked instead of a model. For one thread.
#pragma once

#include "src/reward/reward_model.h"
#include "src/sim/best_place.h"
#include "src/sim/truth/truth.h"

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace harmony {

// A neighbour whose speed the gang would change.
struct Felt {
  int gpus = 0;
  double before = 1, after = 1; // epochs a second
};

struct Outlook {
  double speed = 0; // epochs a second
  double alone = 0; // at that place
  double best = 0;  // alone, at the best place of an empty cluster
  std::vector<Felt> neighbours;
};

// Keeps a copy of who runs where, and changes in it only what changed in the cluster since it was asked last.
class TrueModel : public RewardModel {
public:
  explicit TrueModel(const Truth &rules) : truth_(rules.empty()) {}

  // Speeds relative to the best of the gang; what neighbours lose relative to how they go now.
  Predicted predict(const Cluster &cluster, const Gang &gang, const Plan &plan) const override;

  // To be called when the cluster may have changed; predict() does so itself.
  void follow(const Cluster &cluster) const;
  Outlook outlook(const Cluster &cluster, const Gang &gang, const Plan &plan) const; // after follow()

  const BestAlone &best(const Cluster &cluster, const Gang &gang) const;

private:
  struct Known {
    int key = 0;
    int gpus = 0;
    Occupant job;
  };
  void end_those_gone(const std::map<std::uint32_t, Occupant> &now) const;
  int fresh_key() const;

  const std::unique_ptr<Truth> truth_;
  mutable std::map<std::uint32_t, Known> running_; // by job
  mutable std::vector<int> free_keys_;
  mutable std::vector<int> gpus_by_key_;
  mutable std::map<std::string, BestAlone> best_; // by what a gang asks for
};

} // namespace harmony
