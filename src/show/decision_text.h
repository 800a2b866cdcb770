// A decision and what became of it as `harmony explain` prints it for people.
#pragma once

#include "src/plan/decision_log.h"

#include <string>

namespace harmony {

// The verdict and its reason first, then what became of it, the plan, and what was weighed. Times are local. Nothing of
// its texts reaches a terminal but printable ASCII. A plan of many nodes is cut; decision_json() has all of it.
std::string decision_text(const DecisionRecord &record);

} // namespace harmony
