// Figures of simulations. Pure functions.
#pragma once

#include "src/sim/result.h"

#include <vector>

namespace harmony {

// Between the two nearest values; 0 of none. `part` is within [0, 1].
double quantile(std::vector<double> values, double part);

Mean mean_of(const std::vector<double> &values);

// Finish-time fairness of each job (Themis): how long it took, relative to how long it would have taken on its n-th of
// the cluster, n being the jobs there were on average while it was.
std::vector<double> fairness(const SimResult &result, int cluster_gpus);

// Fills in the summaries from the results.
void summarise(Comparison &comparison);

} // namespace harmony
