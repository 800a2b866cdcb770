#include "src/record/dataset_check.h"

#include "src/values/printable.h"

#include <fmt/format.h>

#include <algorithm>

namespace harmony {
namespace {

constexpr double slack_s = 1;      // between the records of a run: times are rounded
constexpr double disorder_s = 600; // between runs: an end is sometimes noticed late

std::uint64_t key(const RunId &id) {
  return static_cast<std::uint64_t>(id.job) << 32 | static_cast<std::uint32_t>(id.run);
}

std::string name(const RunId &id) {
  return fmt::format("run {} of job {} ({})", id.run, id.job, one_line(id.cluster, 64));
}

} // namespace

void DatasetChecker::fault(const RecordPlace &place, std::string what) {
  tell_({place.file, place.line, std::move(what)});
}

void DatasetChecker::moment(const std::string &cluster, double at_s, const RecordPlace &place) {
  ClusterState &state = clusters_[cluster];
  if (!state.seen) state.first_s = at_s;
  state.seen = true;
  if (file_ != place.file) latest_s_.clear();
  file_ = place.file;
  double &latest = latest_s_.try_emplace(cluster, at_s).first->second;
  if (at_s < latest - disorder_s)
    fault(place, fmt::format("time goes back by {:.0f} s: the clock was put back, or lines are not in their order",
                             latest - at_s));
  latest = at_s < latest - disorder_s ? at_s : std::max(latest, at_s);
}

void DatasetChecker::add(const Record &record, const RecordPlace &place) {
  if (const auto *start = std::get_if<StartRecord>(&record)) begin(*start, place);
  if (const auto *interval = std::get_if<IntervalRecord>(&record)) went(*interval, place);
  if (const auto *ended = std::get_if<EndRecord>(&record)) end(*ended, place);
  if (const auto *gap = std::get_if<GapRecord>(&record)) {
    moment(gap->cluster, gap->at_s, place);
    ClusterState &state = clusters_[gap->cluster];
    state.has_gap = true;
    state.gap_s = std::max(state.gap_s, gap->at_s);
    lost_ += gap->lost;
  }
}

bool DatasetChecker::has_ended(const RunId &id, const char *what, const RecordPlace &place) {
  if (clusters_[id.cluster].ended.count(key(id)) == 0) return false;
  fault(place, fmt::format("{} of {}, which has ended before", what, name(id)));
  return true;
}

DatasetChecker::Open &DatasetChecker::run_of(const RunId &id, double begin_s, bool explained, const char *what,
                                             const RecordPlace &place) {
  const auto [found, is_new] = open_.try_emplace(id);
  if (!is_new) return found->second;
  found->second = {begin_s, begin_s, false, place.file, place.line};
  if (explained)
    ++cut_off_;
  else
    fault(place, fmt::format("{} of {}, which has no start", what, name(id)));
  return found->second;
}

void DatasetChecker::begin(const StartRecord &start, const RecordPlace &place) {
  if (!start.resumed) moment(start.id.cluster, start.begin_s, place);
  if (has_ended(start.id, start.resumed ? "resumption" : "start", place)) return;
  const auto [found, is_new] = open_.try_emplace(start.id);
  Open &run = found->second;
  if (!start.resumed && !is_new)
    fault(place, fmt::format("{} starts a second time; {} at {}:{}", name(start.id),
                             run.start_known ? "it started" : "its first record is", run.file, run.line));
  if (is_new || !run.start_known)
    run = {start.begin_s, std::max(run.until_s, start.begin_s), true, place.file, place.line};
}

void DatasetChecker::went(const IntervalRecord &interval, const RecordPlace &place) {
  moment(interval.id.cluster, interval.end_s, place);
  if (has_ended(interval.id, "interval", place)) return;
  const ClusterState &state = clusters_[interval.id.cluster];
  // A run's intervals follow each other, so that one which was not the first began before what is still there.
  const bool explained = state.has_gap || interval.begin_s <= state.first_s;
  Open &run = run_of(interval.id, interval.begin_s, explained, "interval", place);
  if (interval.end_s < interval.begin_s)
    fault(place, fmt::format("interval of {} ends before it begins", name(interval.id)));
  if (interval.begin_s < run.begin_s - slack_s)
    fault(place, fmt::format("interval of {} begins {:.0f} s before the run", name(interval.id),
                             run.begin_s - interval.begin_s));
  else if (interval.begin_s < run.until_s - slack_s)
    fault(place, fmt::format("interval of {} overlaps the one before by {:.0f} s", name(interval.id),
                             run.until_s - interval.begin_s));
  run.until_s = std::max(run.until_s, interval.end_s);
}

void DatasetChecker::end(const EndRecord &end, const RecordPlace &place) {
  moment(end.id.cluster, end.end_s, place);
  if (has_ended(end.id, "end", place)) return;
  ClusterState &state = clusters_[end.id.cluster];
  const bool explained = end.begin_s <= state.first_s || (state.has_gap && end.begin_s <= state.gap_s);
  const Open &run = run_of(end.id, end.begin_s, explained, "end", place);
  if (end.end_s < end.begin_s - slack_s) fault(place, fmt::format("{} ends before it begins", name(end.id)));
  if (end.end_s < run.until_s - slack_s)
    fault(place, fmt::format("{} ends {:.0f} s before its last interval does, or before it started", name(end.id),
                             run.until_s - end.end_s));
  open_.erase(end.id);
  state.ended.insert(key(end.id));
}

} // namespace harmony
