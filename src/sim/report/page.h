// The report's page: everything put together. May be called from any thread.
#pragma once

#include "src/sim/result.h"

#include <string>
#include <vector>

namespace harmony {

// The drawings of a comparison, as SVG.
struct ComparisonCharts {
  std::string jct, times, jct_cdf, slowdown_cdf;
  std::vector<std::string> usage; // by summary
};

// HTML. `overview` is empty if there is only one comparison.
std::string report_page(const std::vector<Comparison> &comparisons, const std::string &overview,
                        const std::vector<ComparisonCharts> &charts);

} // namespace harmony
