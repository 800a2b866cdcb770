#include "src/values/statistics.h"

#include "src/values/printable.h"

#include <json/json.h>

#include <cmath>
#include <memory>
#include <stdexcept>

namespace harmony {
namespace {

constexpr std::size_t max_json_length = 64 * 1024;

struct CounterName {
  const char *name;
  Statistics::Counter Statistics::*counter;
};

constexpr CounterName counter_names[] = {
    {"rounds", &Statistics::rounds},
    {"rounds_cut", &Statistics::rounds_cut},
    {"gangs_planned", &Statistics::gangs_planned},
    {"gangs_not_reached", &Statistics::gangs_not_reached},
    {"plans_made", &Statistics::plans_made},
    {"plans_used", &Statistics::plans_used},
    {"plans_stale", &Statistics::plans_stale},
    {"waits", &Statistics::waits},
    {"no_room", &Statistics::no_room},
    {"left_to_stock", &Statistics::left_to_stock},
    {"held", &Statistics::held},
    {"shadow_same", &Statistics::shadow_same},
    {"shadow_other", &Statistics::shadow_other},
    {"settings_refused", &Statistics::settings_refused},
    {"gangs_by_model", &Statistics::gangs_by_model},
    {"probes", &Statistics::probes},
    {"models_loaded", &Statistics::models_loaded},
    {"models_refused", &Statistics::models_refused},
    {"claims_taken", &Statistics::claims_taken},
    {"claims_refused", &Statistics::claims_refused},
    {"usages_taken", &Statistics::usages_taken},
    {"events_lost", &Statistics::events_lost},
    {"scores_computed", &Statistics::scores_computed},
    {"scores_reused", &Statistics::scores_reused},
};

struct TimingName {
  const char *name;
  Timing Statistics::*timing;
};

constexpr TimingName timing_names[] = {
    {"lock", &Statistics::lock},       {"snapshot", &Statistics::snapshot}, {"plan", &Statistics::plan},
    {"publish", &Statistics::publish}, {"round", &Statistics::round},       {"job_test", &Statistics::job_test},
    {"observe", &Statistics::observe}, {"encode", &Statistics::encode},     {"inference", &Statistics::inference},
    {"propose", &Statistics::propose},
};

struct FactName {
  const char *name;
  std::string StatisticsFacts::*fact;
};

constexpr FactName fact_names[] = {
    {"policy", &StatisticsFacts::policy},
    {"model", &StatisticsFacts::model},
    {"model_problem", &StatisticsFacts::model_problem},
    {"breaker", &StatisticsFacts::breaker},
    {"mode", &StatisticsFacts::mode},
    {"planner", &StatisticsFacts::planner},
    {"settings_file", &StatisticsFacts::settings_file},
    {"settings_problem", &StatisticsFacts::settings_problem},
    {"dataset", &StatisticsFacts::dataset},
    {"dataset_problem", &StatisticsFacts::dataset_problem},
};

struct FigureName {
  const char *name;
  std::uint64_t StatisticsFacts::*figure;
};

constexpr FigureName figure_names[] = {
    {"decisions_kept", &StatisticsFacts::decisions_kept},   {"jobs_followed", &StatisticsFacts::jobs_followed},
    {"records_written", &StatisticsFacts::records_written}, {"records_lost", &StatisticsFacts::records_lost},
    {"dataset_bytes", &StatisticsFacts::dataset_bytes},
};

Json::Value json_of(const TimingSummary &summary) {
  Json::Value value;
  value["count"] = Json::UInt64{summary.count};
  value["sum_us"] = summary.sum_us;
  value["mean_us"] = summary.mean_us;
  value["p99_us"] = summary.p99_us;
  value["max_us"] = summary.max_us;
  return value;
}

template <class Cause, std::size_t count>
Json::Value by_cause(const std::array<Statistics::Counter, count> &counters, const char *(*name)(Cause)) {
  Json::Value value;
  for (std::size_t i = 0; i < count; ++i) value[name(static_cast<Cause>(i))] = Json::UInt64{counters[i].load()};
  return value;
}

// Readers of one member: nothing there is no problem, something of another kind is.
struct NotUnderstood : std::runtime_error {
  NotUnderstood() : std::runtime_error("not understood") {}
};

Json::Value object_at(const Json::Value &parent, const char *name) {
  const Json::Value &value = parent[name];
  if (value.isNull()) return Json::objectValue;
  if (!value.isObject()) throw NotUnderstood();
  return value;
}

std::uint64_t count_at(const Json::Value &parent, const char *name) {
  const Json::Value &value = parent[name];
  if (value.isNull()) return 0;
  if (!value.isUInt64()) throw NotUnderstood();
  return value.asUInt64();
}

double microseconds_at(const Json::Value &parent, const char *name) {
  const Json::Value &value = parent[name];
  if (value.isNull()) return 0;
  if (!value.isNumeric() || !std::isfinite(value.asDouble()) || value.asDouble() < 0) throw NotUnderstood();
  return value.asDouble();
}

std::string text_at(const Json::Value &parent, const char *name) {
  const Json::Value &value = parent[name];
  if (value.isNull()) return "";
  if (!value.isString()) throw NotUnderstood();
  return one_line(value.asString());
}

template <class Cause>
std::map<std::string, std::uint64_t> by_cause(const Json::Value &object, int count, const char *(*name)(Cause)) {
  std::map<std::string, std::uint64_t> counts;
  for (int i = 0; i < count; ++i) {
    const char *cause = name(static_cast<Cause>(i));
    counts[cause] = count_at(object, cause);
  }
  return counts;
}

// Beyond the year 9999 it is no time, and not every function of the C library survives it.
std::time_t time_at(const Json::Value &parent, const char *name) {
  constexpr std::uint64_t last = 253402300799;
  const std::uint64_t value = count_at(parent, name);
  if (value > last) throw NotUnderstood();
  return static_cast<std::time_t>(value);
}

Json::Value parsed(const std::string &json) {
  Json::CharReaderBuilder builder;
  Json::CharReaderBuilder::strictMode(&builder.settings_);
  builder["stackLimit"] = 8; // of the reader's recursion: ours is three deep
  const std::unique_ptr<Json::CharReader> reader(builder.newCharReader());
  Json::Value root;
  if (json.size() > max_json_length || !reader->parse(json.data(), json.data() + json.size(), &root, nullptr) ||
      !root.isObject())
    throw NotUnderstood();
  return root;
}

StatisticsReport report_of(const Json::Value &root) {
  StatisticsReport report;
  for (const FactName &fact : fact_names) report.facts.*fact.fact = text_at(root, fact.name);
  for (const FigureName &figure : figure_names) report.facts.*figure.figure = count_at(root, figure.name);
  report.since = time_at(root, "since");
  report.last_round = time_at(root, "last_round");
  const Json::Value counters = object_at(root, "counters");
  for (const CounterName &counter : counter_names) report.counters[counter.name] = count_at(counters, counter.name);
  report.fallbacks = by_cause(object_at(root, "fallbacks"), fallback_count, fallback_name);
  report.model_faults = by_cause(object_at(root, "model_faults"), model_fault_count, model_fault_name);
  const Json::Value times = object_at(root, "times");
  for (const TimingName &timing : timing_names) {
    const Json::Value time = object_at(times, timing.name);
    report.times[timing.name] = {count_at(time, "count"), microseconds_at(time, "sum_us"),
                                 microseconds_at(time, "mean_us"), microseconds_at(time, "p99_us"),
                                 microseconds_at(time, "max_us")};
  }
  report.understood = true;
  return report;
}

} // namespace

void reset(Statistics &statistics) {
  for (const CounterName &counter : counter_names) (statistics.*counter.counter).store(0);
  for (const TimingName &timing : timing_names) (statistics.*timing.timing).reset();
  for (Statistics::Counter &fallback : statistics.fallbacks) fallback.store(0);
  for (Statistics::Counter &fault : statistics.model_faults) fault.store(0);
  statistics.since.store(std::time(nullptr));
}

std::string statistics_json(const Statistics &statistics, const StatisticsFacts &facts) {
  Json::Value root;
  for (const FactName &fact : fact_names) root[fact.name] = facts.*fact.fact;
  for (const FigureName &figure : figure_names) root[figure.name] = Json::UInt64{facts.*figure.figure};
  root["since"] = Json::Int64{statistics.since.load()};
  root["last_round"] = Json::Int64{statistics.last_round.load()};
  for (const CounterName &counter : counter_names)
    root["counters"][counter.name] = Json::UInt64{(statistics.*counter.counter).load()};
  for (const TimingName &timing : timing_names)
    root["times"][timing.name] = json_of((statistics.*timing.timing).summary());
  root["fallbacks"] = by_cause(statistics.fallbacks, fallback_name);
  root["model_faults"] = by_cause(statistics.model_faults, model_fault_name);
  Json::StreamWriterBuilder writer;
  writer["indentation"] = "";
  writer["precisionType"] = "decimal";
  writer["precision"] = 3; // nanoseconds
  return Json::writeString(writer, root);
}

StatisticsReport read_statistics(const std::string &json) {
  try {
    return report_of(parsed(json));
  } catch (const std::exception &) { // jsoncpp throws too, of nesting for instance
    return {};
  }
}

} // namespace harmony
