#include "src/show/dataset_text.h"

#include "src/show/pair_map_svg.h"
#include "src/values/local_time.h"
#include "src/values/printable.h"

#include <fmt/format.h>
#include <json/json.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <vector>

namespace harmony {
namespace {

constexpr std::size_t most_types = 40, most_policies = 20, most_clusters = 5;
constexpr double first_real_s = 1e9; // clocks of simulations begin at 0

std::string moment_text(double at_s) {
  return at_s >= first_real_s ? local_time(static_cast<std::time_t>(at_s)) : hours_text(std::max(0.0, at_s));
}

std::string plural(std::uint64_t count, const char *what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

std::string times_text(std::uint64_t count) {
  if (count < 2) return count == 0 ? "never" : "once";
  return fmt::format("{} times", count);
}

std::string slowdown_text(const std::optional<double> &slowdown) {
  return slowdown ? fmt::format("{:.2f}", *slowdown) : "-";
}

std::string maybe_hours(const std::optional<double> &seconds) { return seconds ? hours_text(*seconds) : "-"; }

std::string clusters_text(const DatasetStats &stats) {
  std::string text;
  std::size_t shown = 0;
  for (const auto &[cluster, span] : stats.clusters) {
    if (shown++ == most_clusters) break;
    text += fmt::format("Cluster   {}: {} to {}\n", one_line(cluster, 64), moment_text(span.first_s),
                        moment_text(span.last_s));
  }
  if (stats.clusters.size() > most_clusters)
    text += fmt::format("          and {} more\n", stats.clusters.size() - most_clusters);
  return text;
}

std::string runs_text(const DatasetStats &stats) {
  std::vector<std::string> states;
  for (const auto &[state, count] : stats.states) states.push_back(fmt::format("{} {}", count, one_line(state, 32)));
  std::string text = fmt::format("Runs      {}: {} complete, {} open, {} whose end is lost\n", stats.runs,
                                 stats.complete - stats.without_start, stats.open, stats.lost_end);
  if (stats.without_start > 0) text.insert(text.size() - 1, fmt::format(", {} without a start", stats.without_start));
  if (!states.empty()) text += fmt::format("          {}\n", fmt::join(states, ", "));
  if (const std::uint64_t count = stats.without_epochs; count > 0)
    text += fmt::format("          {} declared no epochs (--harmony-epochs): {} speed is not known\n",
                        plural(count, "completed run"), count == 1 ? "its" : "their");
  if (stats.disturbed > 0)
    text += fmt::format("          {} suspended or resized: nothing is learned from {}\n",
                        plural(stats.disturbed, "run"), stats.disturbed == 1 ? "it" : "them");
  text += fmt::format("Claims    in {}\n", plural(stats.claiming, "run"));
  if (stats.records.at("gap") > 0)
    text += fmt::format("Gaps      {}, {} lost\n", stats.records.at("gap"), plural(stats.lost_records, "record"));
  if (const std::uint64_t shadow = stats.records.at("shadow"); shadow > 0)
    text +=
        fmt::format("Shadow    {}; stock did the same {}\n", plural(shadow, "decision"), times_text(stats.shadow_same));
  return text;
}

std::string sides_header(const char *side) {
  return fmt::format("\n{:<18}{:>8}{:>11}{:>11}{:>11}{:>10}{:>10}\n", side, "RUNS", "COMPLETED", "GPU HOURS",
                     "MEAN WAIT", "MEAN RUN", "SLOWDOWN");
}

std::string side_line(const std::string &side, const RunsStats &runs) {
  return fmt::format("{:<18}{:>8}{:>11}{:>11.1f}{:>11}{:>10}{:>10}\n", side, runs.runs, runs.completed, runs.gpu_hours,
                     maybe_hours(runs.wait_s), maybe_hours(runs.elapsed_s), slowdown_text(runs.slowdown));
}

std::string policy_name(const std::string &policy) { return policy.empty() ? "not known" : one_line(policy, 64); }

std::string sides_text(const DatasetStats &stats) {
  std::string text = sides_header("PLACED BY") + side_line("plan", stats.plan) + side_line("stock", stats.stock);
  text += sides_header("POLICY");
  std::size_t shown = 0;
  for (const auto &[policy, runs] : stats.policies)
    if (shown++ < most_policies) text += side_line(one_line(policy_name(policy), 16), runs);
  if (shown > most_policies) text += fmt::format("and {} more\n", shown - most_policies);
  return text;
}

std::string types_text(const DatasetStats &stats) {
  std::vector<std::pair<std::string, RunsStats>> types(stats.types.begin(), stats.types.end());
  std::stable_sort(types.begin(), types.end(),
                   [](const auto &one, const auto &other) { return one.second.runs > other.second.runs; });
  std::string text =
      fmt::format("\n{:<32}{:>8}{:>11}{:>12}{:>10}\n", "TYPE", "RUNS", "COMPLETED", "GPU HOURS", "SLOWDOWN");
  for (std::size_t i = 0; i < types.size() && i < most_types; ++i) {
    const RunsStats &runs = types[i].second;
    text += fmt::format("{:<32}{:>8}{:>11}{:>12.1f}{:>10}\n", one_line(types[i].first, 28), runs.runs, runs.completed,
                        runs.gpu_hours, slowdown_text(runs.slowdown));
  }
  if (types.size() > most_types) text += fmt::format("and {} more\n", types.size() - most_types);
  return text;
}

// To six digits: more would be an accident of the arithmetic.
Json::Value figure_json(double value) { return std::strtod(fmt::format("{:.6g}", value).c_str(), nullptr); }

Json::Value time_json(double at_s) { return std::round(at_s * 1000) / 1000; }

Json::Value maybe_json(const std::optional<double> &value) {
  return value ? figure_json(*value) : Json::Value(Json::nullValue);
}

Json::Value count_json(std::uint64_t count) { return static_cast<Json::UInt64>(count); }

Json::Value runs_json(const RunsStats &runs) {
  Json::Value value;
  value["runs"] = count_json(runs.runs);
  value["completed"] = count_json(runs.completed);
  value["gpu_hours"] = figure_json(runs.gpu_hours);
  value["wait_s"] = maybe_json(runs.wait_s);
  value["elapsed_s"] = maybe_json(runs.elapsed_s);
  value["slowdown"] = maybe_json(runs.slowdown);
  return value;
}

Json::Value seen_json(const std::string &victim, const PairSeen &seen) {
  Json::Value value;
  value["victim"] = one_line(victim);
  value["seconds"] = figure_json(seen.seconds);
  value["speed"] = maybe_json(seen.speed);
  return value;
}

Json::Value coverage_json(const PairCoverage &coverage) {
  Json::Value value;
  value["possible"] = count_json(coverage.possible());
  value["seen"] = count_json(coverage.pairs.size());
  value["pairs"] = value["alone"] = Json::arrayValue;
  for (const auto &[pair, seen] : coverage.pairs) {
    Json::Value entry = seen_json(pair.first, seen);
    entry["neighbour"] = one_line(pair.second);
    value["pairs"].append(std::move(entry));
  }
  for (const auto &[victim, seen] : coverage.alone) value["alone"].append(seen_json(victim, seen));
  return value;
}

} // namespace

std::string bytes_text(std::uint64_t bytes) {
  constexpr const char *units[] = {"B", "kB", "MB", "GB", "TB"};
  double value = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (value >= 999.95 && unit < 4) value /= 1000, ++unit;
  return unit == 0 ? fmt::format("{} B", bytes) : fmt::format("{:.1f} {}", value, units[unit]);
}

std::string dataset_stats_text(const DatasetStats &stats, const std::string &dataset) {
  std::vector<std::string> kinds;
  for (const auto &[kind, count] : stats.records)
    if (count > 0) kinds.push_back(fmt::format("{} {}", count, kind));
  std::string text = fmt::format("Dataset   {}: {}, {}\n", one_line(dataset, 200), plural(stats.reading.files, "file"),
                                 bytes_text(stats.reading.bytes));
  text += clusters_text(stats);
  text += fmt::format("Records   {}: {}\n", stats.reading.records, fmt::join(kinds, ", "));
  if (stats.reading.faulty > 0)
    text += fmt::format("          {} passed over; `harmony dataset check` names them\n",
                        plural(stats.reading.faulty, "faulty record"));
  if (stats.reading.damaged > 0)
    text += fmt::format("          {}: not all of {} could be read; `harmony dataset check` says more\n",
                        plural(stats.reading.damaged, "damaged file"), stats.reading.damaged == 1 ? "it" : "them");
  if (stats.reading.torn > 0)
    text += fmt::format("          {} passed over\n", plural(stats.reading.torn, "torn tail"));
  text += runs_text(stats);
  const PairCoverage &coverage = stats.coverage;
  const double part = coverage.possible() > 0 ? 100.0 * static_cast<double>(coverage.pairs.size()) /
                                                    static_cast<double>(coverage.possible())
                                              : 0;
  text += fmt::format("Pairs     {} of {} seen side by side ({:.0f} %)\n", coverage.pairs.size(), coverage.possible(),
                      part);
  return text + sides_text(stats) + types_text(stats);
}

std::string dataset_stats_json(const DatasetStats &stats, const std::string &dataset) {
  Json::Value value;
  value["dataset"] = one_line(dataset);
  value["files"] = count_json(stats.reading.files);
  value["bytes"] = count_json(stats.reading.bytes);
  for (const auto &[kind, count] : stats.records) value["records"][kind] = count_json(count);
  value["faulty"] = count_json(stats.reading.faulty);
  value["damaged"] = count_json(stats.reading.damaged);
  value["torn"] = count_json(stats.reading.torn);
  value["lost_records"] = count_json(stats.lost_records);
  value["clusters"] = value["states"] = value["types"] = value["policies"] = Json::objectValue;
  for (const auto &[cluster, span] : stats.clusters) {
    value["clusters"][one_line(cluster)]["first_s"] = time_json(span.first_s);
    value["clusters"][one_line(cluster)]["last_s"] = time_json(span.last_s);
  }
  Json::Value &runs = value["runs"];
  runs["all"] = count_json(stats.runs);
  runs["complete"] = count_json(stats.complete - stats.without_start);
  runs["open"] = count_json(stats.open);
  runs["lost_end"] = count_json(stats.lost_end);
  runs["without_start"] = count_json(stats.without_start);
  runs["with_claim"] = count_json(stats.claiming);
  runs["without_epochs"] = count_json(stats.without_epochs);
  runs["disturbed"] = count_json(stats.disturbed);
  for (const auto &[state, count] : stats.states) value["states"][one_line(state)] = count_json(count);
  for (const auto &[type, of_type] : stats.types) value["types"][one_line(type)] = runs_json(of_type);
  for (const auto &[policy, of_policy] : stats.policies) value["policies"][policy_name(policy)] = runs_json(of_policy);
  value["plan"] = runs_json(stats.plan);
  value["stock"] = runs_json(stats.stock);
  value["shadow_same"] = count_json(stats.shadow_same);
  value["pairs"] = coverage_json(stats.coverage);
  Json::StreamWriterBuilder writer;
  writer["indentation"] = "";
  writer["precision"] = 15; // with 17, 0.9875 would be 0.98750000000000004
  return Json::writeString(writer, value) + "\n";
}

} // namespace harmony
