// Least interference first: of diverse whole gangs the one that loses least by its neighbours and costs them least, by
// the linear interference rule. It never waits.

#include "src/plan/interference.h"
#include "src/policy/policies.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace harmony {
namespace {

// The gangs that were looked at, with what each would lose and cost.
class Comparison {
public:
  Comparison(const Cluster &cluster, const Gang &gang) : cluster_(cluster), gang_(gang) {}

  void consider(std::optional<Plan> plan, const char *what) {
    if (!plan) return;
    const double speed = predicted_speed(cluster_, gang_, *plan), cost = harm(cluster_, gang_, *plan);
    const int nodes = static_cast<int>(nodes_of(*plan).size());
    if (all_.empty()) fewest_ = nodes;
    undisturbed_ |= nodes <= fewest_ && cost == 0 && speed == speed_alone(nodes);
    // Rounded, because sums in another order differ in the last digits, and that is no reason to prefer a place.
    all_.push_back({std::move(*plan), std::round((speed - cost) * 1e6) / 1e6,
                    fmt::format("{}: speed {:.2f}, neighbours lose {:.2f}", what, speed, cost)});
  }

  // Nothing can be better.
  bool undisturbed() const { return undisturbed_; }
  bool empty() const { return all_.empty(); }
  const Plan &latest() const { return all_.back().plan; }

  std::vector<Considered> best_first() {
    std::stable_sort(all_.begin(), all_.end(), [](const Considered &a, const Considered &b) {
      return a.score != b.score ? a.score > b.score : nodes_of(a.plan).size() < nodes_of(b.plan).size();
    });
    return std::move(all_);
  }

private:
  const Cluster &cluster_;
  const Gang &gang_;
  std::vector<Considered> all_;
  int fewest_ = 0;
  bool undisturbed_ = false;
};

class Lif : public Policy {
public:
  const char *name() const override { return "lif"; }

  Proposal propose(const Cluster &cluster, const Gang &gang, bool) const override {
    GangPlacer placer(cluster, gang, true);
    Comparison comparison(cluster, gang);
    comparison.consider(placer.fewest({}), "fewest nodes");
    if (comparison.empty()) return no_room_for(placer);
    const std::vector<int> first = nodes_of(comparison.latest());
    for (const Variant &variant : diverse_variants(gang)) {
      if (comparison.undisturbed()) break;
      comparison.consider(placer.fewest(variant.choice), variant.what);
    }
    if (!comparison.undisturbed()) {
      comparison.consider(placer.by_turns(least_loaded), "each task on the least loaded node");
      consider_elsewhere(placer, first, comparison);
    }
    return place_at(comparison.best_first(), "the best predicted speed, less what its neighbours lose");
  }

private:
  // Nodes with as much room can differ in which GPUs are free: others of the kind are worth a look.
  static void consider_elsewhere(GangPlacer &placer, const std::vector<int> &first, Comparison &comparison) {
    constexpr int others = 4;
    Choice elsewhere;
    elsewhere.not_on = first;
    for (int i = 0; i < others && !comparison.undisturbed(); ++i) {
      auto plan = placer.fewest(elsewhere);
      if (!plan) return;
      for (const int node : nodes_of(*plan)) elsewhere.not_on.push_back(node);
      std::sort(elsewhere.not_on.begin(), elsewhere.not_on.end());
      comparison.consider(std::move(plan), "fewest nodes, others");
    }
  }
};

} // namespace

std::unique_ptr<Policy> make_lif() { return std::make_unique<Lif>(); }

} // namespace harmony
