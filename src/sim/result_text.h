// Comparisons as text and JSON.
#pragma once

#include "src/sim/result.h"

#include <string>
#include <vector>

namespace harmony {

// A table for people: one line a policy, with 95 % intervals.
std::string comparison_text(const Comparison &comparison);

// Everything but the jobs, for programs.
std::string comparisons_json(const std::vector<Comparison> &comparisons);

// CSV, one line a job, policy and seed.
std::string jobs_csv(const std::vector<Comparison> &comparisons);

// "43 s", "12.1 min", "3.4 h"
std::string duration_text(double seconds);

} // namespace harmony
