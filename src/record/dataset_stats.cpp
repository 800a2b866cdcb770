#include "src/record/dataset_stats.h"

#include <algorithm>

namespace harmony {
namespace {

constexpr double late_s = 3600; // a run this long past its time limit has ended, and nobody wrote it down

} // namespace

const char *kind_of(const Record &record) {
  if (const auto *start = std::get_if<StartRecord>(&record)) return start->resumed ? "resume" : "start";
  static constexpr const char *kinds[] = {"node", "start", "interval", "end", "shadow", "usage", "gap"};
  static_assert(std::variant_size_v<Record> == sizeof kinds / sizeof *kinds);
  return kinds[record.index()];
}

DatasetCounter::DatasetCounter() : speeds_([this](MeasuredInterval &&interval) { measured(interval); }) {
  for (const char *kind : {"node", "start", "resume", "interval", "end", "shadow", "usage", "gap"})
    counted_.records[kind] = 0;
}

void DatasetCounter::see(const std::string &cluster, double at_s) {
  const auto [found, is_new] = counted_.clusters.try_emplace(cluster, TimeSpan{at_s, at_s});
  if (is_new) return;
  found->second.first_s = std::min(found->second.first_s, at_s);
  found->second.last_s = std::max(found->second.last_s, at_s);
}

void DatasetCounter::add(const Record &record) {
  ++counted_.records[kind_of(record)];
  speeds_.add(record); // before the run is forgotten
  if (const auto *start = std::get_if<StartRecord>(&record)) begin(*start);
  if (const auto *interval = std::get_if<IntervalRecord>(&record)) went(*interval);
  if (const auto *ended = std::get_if<EndRecord>(&record)) end(*ended);
  if (const auto *shadow = std::get_if<ShadowRecord>(&record)) counted_.shadow_same += shadow->same;
  if (const auto *gap = std::get_if<GapRecord>(&record)) {
    counted_.lost_records += gap->lost;
    see(gap->cluster, gap->at_s);
  }
}

// A job that runs again is over with its runs before.
void DatasetCounter::lose_earlier(const RunId &id) {
  const auto from = open_.lower_bound({id.cluster, id.job, 0}), to = open_.lower_bound(id);
  counted_.lost_end += static_cast<std::uint64_t>(std::distance(from, to));
  open_.erase(from, to);
}

void DatasetCounter::begin(const StartRecord &start) {
  see(start.id.cluster, start.begin_s);
  lose_earlier(start.id);
  const auto [found, is_new] = open_.try_emplace(start.id);
  if (!is_new) return; // resumed, or a fault that check tells of
  Sum *const side = start.resumed ? nullptr : start.by_plan ? &plan_ : &stock_;
  Open &run = found->second;
  run.sums = {&types_[start.type], &policies_[start.policy], side};
  run.gpus = start.gpus;
  run.until_s = start.time_limit_min > 0 ? start.begin_s + 60.0 * start.time_limit_min : 0;
  ++counted_.runs;
  for (Sum *sum : run.sums) {
    if (!sum) continue;
    ++sum->runs.runs;
    if (start.begin_s < start.submit_s) continue;
    ++sum->waits;
    sum->wait_s += start.begin_s - start.submit_s;
  }
}

void DatasetCounter::claimed(const RunId &id) {
  const auto found = open_.find(id);
  if (found == open_.end() || found->second.claims) return;
  found->second.claims = true;
  ++counted_.claiming;
}

void DatasetCounter::went(const IntervalRecord &interval) {
  see(interval.id.cluster, interval.end_s);
  pairs_.saw(interval);
  if (interval.claim) claimed(interval.id);
}

void DatasetCounter::end(const EndRecord &end) {
  see(end.id.cluster, end.end_s);
  ++counted_.complete;
  ++counted_.states[end.state];
  counted_.without_epochs += end.state == "COMPLETED" && end.epochs.value_or(0) <= 0;
  counted_.disturbed += end.disturbed;
  const auto found = open_.find(end.id);
  if (found == open_.end()) {
    ++counted_.runs;
    ++counted_.without_start;
    if (end.claim) ++counted_.claiming;
    return;
  }
  if (end.claim) claimed(end.id);
  const Open &run = found->second;
  for (Sum *sum : run.sums) {
    if (!sum) continue;
    sum->runs.gpu_hours += end.elapsed_s * run.gpus / 3600;
    if (end.state != "COMPLETED") continue;
    ++sum->runs.completed;
    sum->elapsed_s += end.elapsed_s;
  }
  open_.erase(found);
}

void DatasetCounter::measured(const MeasuredInterval &interval) {
  pairs_.measured(interval);
  const auto found = open_.find(interval.record.id);
  if (found == open_.end()) return types_[interval.record.type].speeds.add(interval);
  for (Sum *sum : found->second.sums)
    if (sum) sum->speeds.add(interval);
}

DatasetStats DatasetCounter::stats(const DatasetReading &reading) const {
  DatasetStats all = counted_;
  all.reading = reading;
  for (const auto &[id, run] : open_) {
    const bool over = run.until_s > 0 && run.until_s + late_s < all.clusters.at(id.cluster).last_s;
    ++(over ? all.lost_end : all.open);
  }
  const std::map<GangKind, double> fast = speeds_.fast_speeds();
  const auto result = [&](const Sum &sum) {
    RunsStats runs = sum.runs;
    if (sum.waits > 0) runs.wait_s = sum.wait_s / static_cast<double>(sum.waits);
    if (runs.completed > 0) runs.elapsed_s = sum.elapsed_s / static_cast<double>(runs.completed);
    const std::optional<double> mean = sum.speeds.relative_to(fast).mean();
    if (mean && *mean > 0) runs.slowdown = 1 / *mean;
    return runs;
  };
  for (const auto &[type, sum] : types_) all.types[type] = result(sum);
  for (const auto &[policy, sum] : policies_) all.policies[policy] = result(sum);
  all.plan = result(plan_);
  all.stock = result(stock_);
  all.coverage = pairs_.coverage(fast);
  return all;
}

} // namespace harmony
