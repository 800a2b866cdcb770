// How a whole gang comes about task by task: the choices that lead to it, each with what else there was, as lessons for
// the scorer of tasks. For one thread.
#pragma once

#include "src/encode/encoder.h"
#include "src/learn/policy_network.h"
#include "src/values/gang.h"
#include "src/values/plan.h"

#include <vector>

namespace harmony {

// Of gangs of one component; others teach nothing. Nodes alike are one choice, as in service.
std::vector<Experience> task_lessons(const Encoder &encoder, const Gang &gang, const JobRow &job, const Plan &plan);

} // namespace harmony
