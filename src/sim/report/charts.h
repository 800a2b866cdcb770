// The charts of the report. Everything may be called from any thread.
#pragma once

#include "src/sim/report/gnuplot.h"
#include "src/sim/result.h"

#include <string>
#include <vector>

namespace harmony {

// Of several comparisons: mean JCT as multiples of the best policy's, scenario by scenario.
Drawing overview_chart(const std::vector<Comparison> &comparisons, const std::vector<std::string> &policies);

// Of one comparison. `policies` gives each its colour.
Drawing jct_chart(const Comparison &comparison, const std::vector<std::string> &policies);
Drawing time_chart(const Comparison &comparison, const std::vector<std::string> &policies); // waiting and running
Drawing jct_cdf_chart(const Comparison &comparison, const std::vector<std::string> &policies);
Drawing slowdown_cdf_chart(const Comparison &comparison, const std::vector<std::string> &policies);

// Of the policy at this index of the summaries, on the first workload.
Drawing usage_chart(const Comparison &comparison, const std::vector<std::string> &policies, std::size_t policy);

} // namespace harmony
