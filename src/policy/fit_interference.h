// An interference model fitted from records of how fast gangs went: by type where there are enough records, else from
// all of them. Plain values.
#pragma once

#include "src/plan/interference.h"
#include "src/record/records.h"

#include <map>
#include <string>
#include <vector>

namespace harmony {

enum class Degree { linear, quadratic };

// What a term costs, as a part of the job's speed: the five terms in the order of InterferenceTerms, then, of a
// quadratic model, their products, each with itself and those after it.
using FittedRates = std::vector<double>;

struct FittedInterference {
  Degree degree = Degree::linear;
  FittedRates all;
  std::map<std::string, FittedRates> by_type;
  std::size_t records = 0;

  // Relative to the best that the job could have alone; within (0.05, 1].
  double speed(const std::string &type, const InterferenceTerms &terms) const;
};

struct FitOptions {
  std::size_t least_records = 50; // that a type needs for rates of its own
  double ridge = 1e-4;            // of the mean square of each column
};

// Ridge least squares over the records whose relative speed is known. Throws std::runtime_error if there are none.
FittedInterference fit_interference(const std::vector<IntervalRecord> &records, Degree degree,
                                    const FitOptions &options = {});

} // namespace harmony
