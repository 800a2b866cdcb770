// What a comparison says, in a sentence or two: which policy is best, by how much, and whether that is certain. May be
// called from any thread.
#pragma once

#include "src/sim/result.h"

#include <optional>
#include <string>

namespace harmony {

// By how much the mean JCT of `better` is shorter than that of `worse`, as a part of the latter: the mean over the
// workloads that both ran, and its 95 % interval (of the differences: the workloads are the same). Nothing if there is
// none.
struct Gain {
  double mean = 0;
  double half = 0;
  int workloads = 0;
  bool certain() const { return workloads > 1 && mean - half > 0; }
};
std::optional<Gain> gain(const Comparison &comparison, std::size_t better, std::size_t worse);

// HTML. The bounds are never called the best.
std::string headline(const Comparison &comparison);

} // namespace harmony
