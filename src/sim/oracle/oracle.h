// Policies that know the ground truth: what the others could gain at most by a better model. For one thread each, and
// one simulation.
#pragma once

#include "src/policy/policy.h"
#include "src/sim/truth/truth.h"

#include <functional>
#include <memory>

namespace harmony {

// "oracle-greedy": of diverse gangs the largest sum of speeds now; never waits.
std::unique_ptr<Policy> make_oracle_greedy(const Truth &rules);

// "oracle-exhaustive": of all gangs, as long as they are few; else like oracle-greedy.
constexpr int most_placements = 4096;
std::unique_ptr<Policy> make_oracle_exhaustive(const Truth &rules);

// What the linear scorer makes of a gang at a place, and of waiting: costs in parts of the time that the gang takes at
// its best. The weights were found by a random search in the simulator, with the mechanistic truth (servers6, pcie8 and
// mixed64 at loads 0.7 and 0.9, seeds from 2001 on, MaxWait an hour), and rounded; MaxWait bounds the waiting besides.
struct LinearWeights {
  double own = 0.53;        // its slowdown against the best possible, less 1
  double neighbours = 3;    // GPU time that they lose, by the gang's GPUs
  double queue = 0.05;      // GPU time lost by all, for each gang that waits (32 at most)
  double more_nodes = 0.09; // beyond the fewest that could hold it, by the fewest
  double stranded = 0.2;    // part of the GPUs of its nodes that would be left over
  double distributed = 0;   // distributed jobs that it would meet, by node; nothing beside the true speeds
  double ps_apart = 0.05;   // part of the PS that are on nodes without workers
  double wait = 0.1;        // waiting costs that in itself,
  double next_end = 0.35;   // and the time until a job ends at the latest, by the gang's time limit,
  double age = 0.15;        // and the time that it has waited already, by its time limit
};
// "oracle-linear". `queue_length` tells how many gangs wait; it may be empty.
std::unique_ptr<Policy> make_oracle_linear(const Truth &rules, std::function<int()> queue_length,
                                           const LinearWeights &weights = {});

} // namespace harmony
