// One HTML file that shows comparisons: charts, a map of the cluster over time, a table. It needs nothing from the
// network; the charts are drawn by gnuplot when it is written.
#pragma once

#include "src/sim/result.h"

#include <string>
#include <vector>

namespace harmony {

// The page. Throws std::runtime_error: no gnuplot, or it failed. The same comparisons make the same bytes.
std::string report_html(const std::vector<Comparison> &comparisons);

// Throws std::runtime_error also if the file cannot be written.
void write_report(const std::string &path, const std::vector<Comparison> &comparisons);

} // namespace harmony
