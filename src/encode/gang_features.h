// The rows of whole gangs: a proposal of where all tasks go, and waiting.
#pragma once

#include "src/encode/encoder.h"
#include "src/encode/job_features.h"
#include "src/values/plan.h"

#include <vector>

namespace harmony {

std::vector<float> gang_row(const Encoder &encoder, const Gang &gang, const Plan &plan,
                            const Circumstances &circumstances);
std::vector<float> wait_row(const Encoder &encoder);

} // namespace harmony
