#include "src/record/run_speeds.h"

#include <algorithm>
#include <cmath>

namespace harmony {
namespace {

// A claim by which an interval was so many times faster than the whole run is not believed.
constexpr double most_times_mean = 5;

struct Point {
  double at, done; // seconds; part of the run's epochs
};

struct Ended {
  double begin_s, end_s, epochs;
  double wall() const { return end_s - begin_s; }
};

// Through the owner's claims as far as they go forward, from nothing at the run's begin to all of it at its end. The
// node's clock may be wrong: a claim is no later than the interval in which it was seen.
std::vector<Point> claimed_progress(const std::vector<IntervalRecord> &intervals, const Ended &run) {
  std::vector<Point> curve{{run.begin_s, 0}};
  for (const IntervalRecord &interval : intervals) {
    if (!interval.claim) continue;
    const double all = interval.claim->of.value_or(run.epochs);
    if (!(all > 0)) continue;
    const double at = std::min(static_cast<double>(interval.claim->at), interval.end_s);
    const double done = std::min(interval.claim->epoch / all, 1.0);
    if (at > curve.back().at && at < run.end_s && done >= curve.back().done) curve.push_back({at, done});
  }
  if (curve.size() == 1) return {};
  curve.push_back({run.end_s, 1});
  return curve;
}

double progress_at(const std::vector<Point> &curve, double at) {
  const auto after =
      std::find_if(curve.begin() + 1, curve.end() - 1, [at](const Point &point) { return point.at >= at; });
  const Point &from = *(after - 1), &to = *after;
  const double part = std::clamp((at - from.at) / (to.at - from.at), 0.0, 1.0);
  return from.done + part * (to.done - from.done);
}

// The part of the run's epochs that was done in each interval; empty if there are no claims, or none that can be right.
std::vector<double> claimed_shares(const std::vector<IntervalRecord> &intervals, const Ended &run) {
  const std::vector<Point> curve = claimed_progress(intervals, run);
  std::vector<double> shares;
  if (curve.empty()) return shares;
  for (const IntervalRecord &interval : intervals) {
    const double share = progress_at(curve, interval.end_s) - progress_at(curve, interval.begin_s);
    if (share > most_times_mean * (interval.end_s - interval.begin_s) / run.wall()) return {};
    shares.push_back(share);
  }
  return shares;
}

std::vector<double> shares_of(const std::vector<IntervalRecord> &intervals, const Ended &run) {
  std::vector<double> shares = claimed_shares(intervals, run);
  if (shares.empty())
    for (const IntervalRecord &interval : intervals) shares.push_back((interval.end_s - interval.begin_s) / run.wall());
  double sum = 0;
  for (const double share : shares) sum += share;
  if (sum > 1) // of intervals that overlap
    for (double &share : shares) share /= sum;
  return shares;
}

} // namespace

RunSpeeds::RunSpeeds(Take take, Take give_up) : take_(std::move(take)), give_up_(std::move(give_up)) {}

void RunSpeeds::add(const Record &record) {
  if (const auto *interval = std::get_if<IntervalRecord>(&record)) went(*interval);
  if (const auto *end = std::get_if<EndRecord>(&record)) ended(*end);
}

void RunSpeeds::went(const IntervalRecord &interval) {
  const std::uint64_t order = intervals_++;
  const double seconds = interval.end_s - interval.begin_s;
  if (!(seconds > 0)) return;
  if (interval.epochs && interval.relative_speed) {
    const double speed = *interval.epochs / seconds;
    return take_({interval, {interval.type, interval.workers, interval.ps}, speed, speed, order});
  }
  Open &run = open_[interval.id];
  run.kind = {interval.type, interval.workers, interval.ps};
  run.order.push_back(order);
  run.intervals.push_back(interval);
}

void RunSpeeds::give_up(Open &run) {
  for (std::size_t i = 0; give_up_ && i < run.intervals.size(); ++i)
    give_up_({std::move(run.intervals[i]), run.kind, 0, 0, run.order[i]});
}

void RunSpeeds::finish() {
  for (auto &each : open_) give_up(each.second);
  open_.clear();
}

void RunSpeeds::ended(const EndRecord &end) {
  const auto found = open_.find(end.id);
  if (found == open_.end()) return;
  Open run = std::move(found->second);
  open_.erase(found);
  const double wall = end.end_s - end.begin_s;
  const bool is_known = end.state == "COMPLETED" && !end.disturbed && end.epochs && *end.epochs > 0;
  if (!is_known || !(wall > 0) || !(end.elapsed_s > 0)) return give_up(run);
  // Of records that do not tell whether it was suspended; taken to be spread over the whole run.
  const double active = std::min(end.elapsed_s / wall, 1.0);
  const double mean = *end.epochs / (wall * active);
  const std::vector<double> shares = shares_of(run.intervals, {end.begin_s, end.end_s, *end.epochs});
  run_speeds_[run.kind].push_back(mean);
  for (std::size_t i = 0; i < run.intervals.size(); ++i) {
    MeasuredInterval measured{std::move(run.intervals[i]), run.kind, 0, mean, run.order[i]};
    measured.record.epochs = shares[i] * *end.epochs;
    measured.speed = *measured.record.epochs / ((measured.record.end_s - measured.record.begin_s) * active);
    take_(std::move(measured));
  }
}

std::map<GangKind, double> RunSpeeds::fast_speeds() const {
  std::map<GangKind, double> fast;
  for (const auto &[kind, speeds] : run_speeds_) {
    std::vector<double> sorted = speeds;
    const auto rank = static_cast<std::size_t>(std::ceil(0.95 * static_cast<double>(sorted.size()))) - 1;
    const auto at = sorted.begin() + static_cast<std::ptrdiff_t>(rank);
    std::nth_element(sorted.begin(), at, sorted.end());
    fast[kind] = *at;
  }
  return fast;
}

} // namespace harmony
