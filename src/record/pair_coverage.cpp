#include "src/record/pair_coverage.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace harmony {
namespace {

constexpr double step = 1.005;

int step_of(double speed) { return static_cast<int>(std::lround(std::log(speed) / std::log(step))); }
double speed_at(int index) { return std::pow(step, index); }

// A pair counts once, however many neighbours of the type there are.
std::set<std::string> neighbour_types(const IntervalRecord &interval) {
  std::set<std::string> types;
  for (const Neighbour &neighbour : interval.neighbours) types.insert(neighbour.type);
  return types;
}

// Records of old simulations have terms, and do not tell whose.
bool is_alone(const IntervalRecord &interval) {
  const InterferenceTerms &terms = interval.terms;
  return interval.neighbours.empty() && terms.same_domain + terms.same_socket + terms.same_nic + terms.cores == 0;
}

} // namespace

void SpeedSpread::add(double speed, double seconds) {
  constexpr double least = 1e-12, most = 1e12; // a standstill is a speed too
  if (std::isfinite(speed) && seconds > 0) seconds_[step_of(std::clamp(speed, least, most))] += seconds;
}

void SpeedSpread::add(const SpeedSpread &other, double divided_by) {
  for (const auto &[index, seconds] : other.seconds_) {
    const double speed = speed_at(index) / divided_by;
    if (speed <= most_relative_speed * step) add(speed, seconds);
  }
}

std::optional<double> SpeedSpread::median() const {
  double all = 0, below = 0;
  for (const auto &each : seconds_) all += each.second;
  for (const auto &[index, seconds] : seconds_)
    if ((below += seconds) >= all / 2) return speed_at(index);
  return std::nullopt;
}

std::optional<double> SpeedSpread::mean() const {
  double all = 0, sum = 0;
  for (const auto &[index, seconds] : seconds_) all += seconds, sum += seconds * speed_at(index);
  return all > 0 ? std::optional<double>(sum / all) : std::nullopt;
}

void RelativeSpeeds::add(const MeasuredInterval &interval) {
  const double seconds = interval.record.end_s - interval.record.begin_s;
  if (interval.record.relative_speed)
    relative_.add(*interval.record.relative_speed, seconds);
  else
    of_kind_[interval.kind].add(interval.speed, seconds);
}

SpeedSpread RelativeSpeeds::relative_to(const std::map<GangKind, double> &fast) const {
  SpeedSpread all = relative_;
  for (const auto &[kind, speeds] : of_kind_)
    if (const auto found = fast.find(kind); found != fast.end()) all.add(speeds, found->second);
  return all;
}

void PairCounter::saw(const IntervalRecord &interval) {
  const double seconds = interval.end_s - interval.begin_s;
  if (!(seconds > 0)) return;
  types_[interval.type] += seconds;
  if (is_alone(interval)) alone_[interval.type].seconds += seconds;
  for (const std::string &type : neighbour_types(interval)) {
    types_[type] += 0; // its own intervals are counted as its own
    pairs_[{interval.type, type}].seconds += seconds;
  }
}

void PairCounter::measured(const MeasuredInterval &interval) {
  if (is_alone(interval.record)) alone_[interval.record.type].speeds.add(interval);
  for (const std::string &type : neighbour_types(interval.record))
    pairs_[{interval.record.type, type}].speeds.add(interval);
}

PairCoverage PairCounter::coverage(const std::map<GangKind, double> &fast) const {
  PairCoverage result;
  std::vector<std::pair<double, std::string>> longest;
  for (const auto &[type, seconds] : types_) longest.emplace_back(-seconds, type);
  std::sort(longest.begin(), longest.end());
  for (const auto &each : longest) result.types.push_back(each.second);
  const auto of = [&](const Seen &seen) { return PairSeen{seen.seconds, seen.speeds.relative_to(fast).median()}; };
  for (const auto &[pair, seen] : pairs_) result.pairs[pair] = of(seen);
  for (const auto &[type, seen] : alone_) result.alone[type] = of(seen);
  return result;
}

} // namespace harmony
