// The rows of whole gangs: a proposal of where all tasks go, and waiting.
#pragma once

#include "src/encode/encoder.h"
#include "src/encode/job_features.h"
#include "src/reward/reward_model.h"
#include "src/values/plan.h"

#include <vector>

namespace harmony {

// `predicted`: of this plan, by the reward model.
std::vector<float> gang_row(const Encoder &encoder, const Gang &gang, const Plan &plan, const Predicted &predicted,
                            const Circumstances &circumstances);
std::vector<float> wait_row(const Encoder &encoder, const Gang &gang, const Circumstances &circumstances);

} // namespace harmony
