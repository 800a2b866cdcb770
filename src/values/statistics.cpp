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
};

struct TimingName {
  const char *name;
  Timing Statistics::*timing;
};

constexpr TimingName timing_names[] = {
    {"lock", &Statistics::lock},       {"snapshot", &Statistics::snapshot}, {"plan", &Statistics::plan},
    {"publish", &Statistics::publish}, {"round", &Statistics::round},       {"job_test", &Statistics::job_test},
};

struct FactName {
  const char *name;
  std::string StatisticsFacts::*fact;
};

constexpr FactName fact_names[] = {
    {"policy", &StatisticsFacts::policy},
    {"model", &StatisticsFacts::model},
    {"mode", &StatisticsFacts::mode},
    {"planner", &StatisticsFacts::planner},
    {"settings_file", &StatisticsFacts::settings_file},
    {"settings_problem", &StatisticsFacts::settings_problem},
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
  report.facts.decisions_kept = count_at(root, "decisions_kept");
  report.since = time_at(root, "since");
  report.last_round = time_at(root, "last_round");
  const Json::Value counters = object_at(root, "counters"), fallbacks = object_at(root, "fallbacks");
  for (const CounterName &counter : counter_names) report.counters[counter.name] = count_at(counters, counter.name);
  for (int i = 0; i < fallback_count; ++i) {
    const char *name = fallback_name(static_cast<Fallback>(i));
    report.fallbacks[name] = count_at(fallbacks, name);
  }
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
  statistics.since.store(std::time(nullptr));
}

std::string statistics_json(const Statistics &statistics, const StatisticsFacts &facts) {
  Json::Value root;
  for (const FactName &fact : fact_names) root[fact.name] = facts.*fact.fact;
  root["decisions_kept"] = Json::UInt64{facts.decisions_kept};
  root["since"] = Json::Int64{statistics.since.load()};
  root["last_round"] = Json::Int64{statistics.last_round.load()};
  for (const CounterName &counter : counter_names)
    root["counters"][counter.name] = Json::UInt64{(statistics.*counter.counter).load()};
  for (const TimingName &timing : timing_names)
    root["times"][timing.name] = json_of((statistics.*timing.timing).summary());
  for (int i = 0; i < fallback_count; ++i)
    root["fallbacks"][fallback_name(static_cast<Fallback>(i))] =
        Json::UInt64{statistics.fallbacks[static_cast<std::size_t>(i)].load()};
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
