// The policies that go by a fitted interference model; like the others, they may be asked from any thread.
#pragma once

#include "src/policy/fit_interference.h"
#include "src/policy/policy.h"
#include "src/policy/by_reward.h"

#include <memory>

namespace harmony {

// Least interference first by fitted rates: "lif-linear" or "lif-quadratic", by the model's degree.
std::unique_ptr<Policy> make_fitted_lif(FittedInterference model);

// "greedy": the largest reward in Harmony's sense, the sum over jobs of the part of their work that they do in an
// interval; how much work a job has is taken from its time limit. It differs from lif in that what a long job loses
// counts less than what a short one does.
std::unique_ptr<Policy> make_greedy(FittedInterference model);

} // namespace harmony
