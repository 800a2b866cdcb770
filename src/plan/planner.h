// A planning round: pending gangs in Slurm's order, each placed by the policy in the cluster that the ones before it
// leave, within a time budget. Pure: snapshot in, decisions out.
#pragma once

#include "src/policy/policy.h"
#include "src/values/plan.h"
#include "src/values/settings.h"
#include "src/values/snapshot.h"

#include <cstdint>
#include <functional>
#include <vector>

namespace harmony {

struct RoundResult {
  std::vector<Decision> decisions; // in the order of the gangs; a job array has one for each copy that was placed, and
                                   // one for the first that was not
  int not_reached = 0;             // gangs beyond the time budget
};

// How much is said about a decision. A simulation that decides millions of times has no use for more than the plan.
enum class Explain { fully, plan_only };

// A gang waits for MaxWait at most from when it was first held back (Gang::held_since, which the caller keeps).
// `out_of_time` is asked before each gang; once it says so, the rest is left for the next round.
RoundResult plan_round(const Snapshot &snapshot, const Policy &policy, const Settings &settings, std::uint64_t round,
                       const std::function<bool()> &out_of_time, Explain explain = Explain::fully);

} // namespace harmony
