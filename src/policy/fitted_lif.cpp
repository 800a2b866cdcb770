#include "src/policy/fitted_lif.h"

#include "src/plan/place.h"

#include <algorithm>
#include <utility>

namespace harmony {
namespace {

enum class Weigh { equally, by_length };

class FittedModel : public RewardModel {
public:
  FittedModel(FittedInterference model, Weigh weigh) : model_(std::move(model)), weigh_(weigh) {}

  Predicted predict(const Cluster &cluster, const Gang &gang, const Plan &plan) const override {
    const InterferenceTerms terms = interference_terms(cluster, plan);
    InterferenceTerms without;
    without.across_nodes = terms.across_nodes;
    Predicted predicted{model_.speed(gang.type, terms), model_.speed(gang.type, without), 0};
    for (const NeighbourTerms &its : neighbour_terms(cluster, plan)) {
      const double lost = model_.speed(its.job->type, its.before) - model_.speed(its.job->type, its.after);
      predicted.lost += lost * weight(gang, *its.job);
    }
    return predicted;
  }

private:
  // Of what a neighbour loses against what the gang gains.
  double weight(const Gang &gang, const Running &neighbour) const {
    const auto mine = std::time_t{60} * gang.time_limit_min, its = neighbour.ends - neighbour.started;
    if (weigh_ == Weigh::equally || mine <= 0 || its <= 0) return 1;
    return static_cast<double>(mine) / static_cast<double>(its);
  }

  const FittedInterference model_;
  const Weigh weigh_;
};

} // namespace

std::unique_ptr<Policy> make_fitted_lif(FittedInterference model) {
  const char *name = model.degree == Degree::linear ? "lif-linear" : "lif-quadratic";
  return make_by_reward({name, "the best predicted speed by fitted rates, less what its neighbours lose"},
                        std::make_unique<FittedModel>(std::move(model), Weigh::equally));
}

std::unique_ptr<Policy> make_greedy(FittedInterference model) {
  return make_by_reward({"greedy", "the largest reward by the fitted interference model"},
                        std::make_unique<FittedModel>(std::move(model), Weigh::by_length));
}

} // namespace harmony
