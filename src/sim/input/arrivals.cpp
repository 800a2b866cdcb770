// When the jobs of a scenario arrive.
#include "src/sim/input/scenario_mix.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace harmony {
namespace {

constexpr double day_s = 86400;

// Arrivals of the Philly trace by the hour of its clock, relative to their mean.
constexpr std::array<double, 24> philly_hours = {1.27, 0.98, 1.12, 1.10, 0.70, 1.15, 1.67, 2.09,
                                                 1.11, 1.01, 1.02, 0.87, 0.75, 0.70, 0.64, 0.65,
                                                 0.88, 0.67, 0.80, 0.73, 1.02, 0.92, 1.13, 1.01};

// Half of the gaps of the Philly trace are below 8 s, their mean is 114 s: jobs come in bursts. Here four gaps of five
// are short, which makes the median gap a tenth of the mean. The trace's silent days are not imitated.
constexpr double within_burst = 0.8, short_gap = 0.1;
constexpr double long_gap = (1 - within_burst * short_gap) / (1 - within_burst);

// One value a job, ascending from 0: as if arrivals did not depend on the time.
std::vector<double> steady(Arrivals arrivals, int jobs, Random &random) {
  std::vector<double> at(static_cast<std::size_t>(jobs));
  for (std::size_t i = 1; i < at.size(); ++i) {
    const bool burst = arrivals != Arrivals::poisson && random.unit() < within_burst;
    const double mean = arrivals == Arrivals::poisson ? 1 : burst ? short_gap : long_gap;
    at[i] = at[i - 1] + random.exponential(mean);
  }
  return at;
}

double rate(Arrivals arrivals, double first_hour_s, double at_s, double end_s) {
  if (arrivals == Arrivals::poisson) return 1;
  const double of_day = std::fmod(first_hour_s + at_s, day_s);
  const double hourly = philly_hours[std::min<std::size_t>(23, static_cast<std::size_t>(of_day / 3600))];
  return arrivals == Arrivals::doubling && at_s >= end_s / 2 ? 2 * hourly : hourly;
}

} // namespace

std::vector<double> arrival_times(Arrivals arrivals, int jobs, double end_s, std::uint64_t seed) {
  Random random(seed, "arrivals");
  const double first_hour_s = 3600.0 * random.below(24);
  std::vector<double> at = steady(arrivals, jobs, random);
  if (jobs < 2 || at.back() <= 0) return at;

  // An even number of slots: the rate may double in the middle.
  const int slots = 2 * static_cast<int>(std::clamp(std::ceil(end_s / 600), 500.0, 50000.0));
  const double slot_s = end_s / slots;
  double all = 0;
  for (int i = 0; i < slots; ++i) all += rate(arrivals, first_hour_s, (i + 0.5) * slot_s, end_s);
  const double scale = all / at.back();
  int slot = 0;
  double before = 0; // the sum of the rates of the slots before this one
  double here = rate(arrivals, first_hour_s, 0.5 * slot_s, end_s);
  for (double &each : at) {
    const double wanted = each * scale;
    for (; slot + 1 < slots && before + here < wanted;
         before += here, ++slot, here = rate(arrivals, first_hour_s, (slot + 0.5) * slot_s, end_s))
      ;
    each = std::min(end_s, (slot + (wanted - before) / here) * slot_s);
  }
  at.back() = end_s;
  return at;
}

} // namespace harmony
