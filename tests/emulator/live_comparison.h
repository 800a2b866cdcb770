// A live comparison as text and JSON: two live runs, two simulated ones, and how far off the simulator is. Pure.
#pragma once

#include "src/sim/result.h"
#include "tests/emulator/live_result.h"

#include <cstdint>
#include <string>

namespace harmony {

struct LiveComparison {
  Comparison live, simulated; // of each: stock, ours; one workload
  SlurmTimes stock_times, ours_times;
  double speedup = 1;
  std::uint64_t seed = 1;
};

constexpr double allowed_error = 0.1;

// How far a simulated mean is off, relative to the live one.
double prediction_error(const Mean &simulated, const Mean &live);

// The largest over both policies, of mean JCT.
double worst_error(const LiveComparison &both);

std::string live_comparison_text(const LiveComparison &both);
std::string live_comparison_brief(const LiveComparison &both); // for the quickstart
std::string live_comparison_json(const LiveComparison &both);

} // namespace harmony
