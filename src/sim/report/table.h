// The report's table: every figure of every policy, to be sorted and copied. May be called from any thread.
#pragma once

#include "src/sim/result.h"

#include <string>
#include <vector>

namespace harmony {

// HTML, best policy first. `id` is the table's; `policies` gives each its colour.
std::string figures_table(const Comparison &comparison, const std::vector<std::string> &policies,
                          const std::string &id);

} // namespace harmony
