// Compares diverse whole gangs by a reward model.

#include "src/policy/diverse.h"
#include "src/policy/policies.h"
#include "src/policy/by_reward.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace harmony {
namespace {

// The gangs that were looked at, with what each would lose and cost.
class Comparison {
public:
  Comparison(const Cluster &cluster, const Gang &gang, const RewardModel &model)
      : cluster_(cluster), gang_(gang), model_(model) {}

  void consider(Plan plan, const char *what) {
    const Predicted predicted = model_.predict(cluster_, gang_, plan);
    const std::size_t nodes = nodes_of(plan).size();
    if (all_.empty()) fewest_ = nodes;
    undisturbed_ |= nodes <= fewest_ && predicted.lost == 0 && predicted.speed == predicted.alone;
    // Rounded, because sums in another order differ in the last digits, and that is no reason to prefer a place.
    all_.push_back({std::move(plan), std::round((predicted.speed - predicted.lost) * 1e6) / 1e6,
                    fmt::format("{}: speed {:.2f}, neighbours lose {:.2f}", what, predicted.speed, predicted.lost)});
  }

  // Nothing can be better.
  bool undisturbed() const { return undisturbed_; }
  bool empty() const { return all_.empty(); }

  std::vector<Considered> best_first() {
    std::stable_sort(all_.begin(), all_.end(), [](const Considered &a, const Considered &b) {
      return a.score != b.score ? a.score > b.score : nodes_of(a.plan).size() < nodes_of(b.plan).size();
    });
    return std::move(all_);
  }

private:
  const Cluster &cluster_;
  const Gang &gang_;
  const RewardModel &model_;
  std::vector<Considered> all_;
  std::size_t fewest_ = 0;
  bool undisturbed_ = false;
};

class Rewarded : public Policy {
public:
  Rewarded(const ByReward &who, std::unique_ptr<RewardModel> model) : who_(who), model_(std::move(model)) {}
  const char *name() const override { return who_.name; }

  Proposal propose(const Cluster &cluster, const Gang &gang, bool) const override {
    GangPlacer placer(cluster, gang, true);
    Comparison comparison(cluster, gang, *model_);
    each_diverse_gang(
        placer, gang, [&](Plan plan, const char *what) { comparison.consider(std::move(plan), what); },
        [&] { return !comparison.undisturbed(); });
    if (comparison.empty()) return no_room_for(placer);
    return place_at(comparison.best_first(), who_.reason);
  }

private:
  const ByReward who_;
  const std::unique_ptr<RewardModel> model_;
};

} // namespace

std::unique_ptr<Policy> make_by_reward(const ByReward &who, std::unique_ptr<RewardModel> model) {
  return std::make_unique<Rewarded>(who, std::move(model));
}

} // namespace harmony
