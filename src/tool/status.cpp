#include "src/tool/status.h"

#include "src/tool/status_facts.h"
#include "src/values/local_time.h"
#include "src/values/printable.h"
#include "src/values/statistics.h"

#include <fmt/format.h>
#include <json/json.h>

#include <ctime>
#include <initializer_list>
#include <iterator>
#include <map>
#include <sstream>
#include <string_view>
#include <utility>
#include <vector>

namespace harmony {
namespace {

bool lists(const std::string &plugin_dir, const std::string &directory) {
  std::istringstream entries(plugin_dir);
  for (std::string entry; std::getline(entries, entry, ':');)
    if (entry == directory) return true;
  return false;
}

std::string why_not_loaded(const ControllerReport &report, const std::string &our_dir, const std::string &built_for) {
  if (report.slurm_version != built_for)
    return fmt::format("slurmctld is Slurm {}, this build is for {}: Slurm takes its own plugins then; build for {}",
                       report.slurm_version, built_for, report.slurm_version);
  if (!lists(report.plugin_dir, our_dir))
    return fmt::format("PluginDir={} does not list {}; put it first and restart slurmctld", report.plugin_dir, our_dir);
  return fmt::format(
      "PluginDir lists {}, but slurmctld runs its own plugins: it was not restarted since, or its log says why",
      our_dir);
}

// The planner should plan, and does not.
bool planner_is_down(const ControllerReport &report, const StatisticsReport &statistics) {
  const std::string &planner = statistics.facts.planner;
  return fact(report, "HarmonyMode") != "off" &&
         (begins_with(planner, "unwell") || begins_with(planner, "not running"));
}

// Why the model that is wanted does not decide; empty if it does, or none is wanted.
std::string why_not_the_model(const StatisticsReport &statistics) {
  const StatisticsFacts &facts = statistics.facts;
  if (!is_learned(statistics)) return "";
  if (!has_model(facts))
    return fmt::format("no model is in service, the heuristic decides{}{}", facts.model_problem.empty() ? "" : ": ",
                       facts.model_problem);
  if (!facts.model_problem.empty()) return fmt::format("{} stays in service: {}", facts.model, facts.model_problem);
  if (!facts.breaker.empty() && !begins_with(facts.breaker, "closed"))
    return fmt::format("{} is not used, the heuristic decides; the breaker is {}", facts.model, facts.breaker);
  return "";
}

std::string time_text(std::time_t time) {
  const std::string text = time == 0 ? "" : local_time(time);
  return text.empty() ? "never" : text;
}

using Rows = std::initializer_list<std::pair<const char *, std::string>>;

std::string section(std::string_view heading, const Rows &rows) {
  std::string text = fmt::format("\n{}\n", heading);
  for (const auto &[name, value] : rows)
    if (!value.empty()) text += fmt::format("  {:<20}{}\n", name, value);
  return text;
}

std::string times_text(const StatisticsReport &statistics) {
  std::string text =
      fmt::format("\nTimes (microseconds)\n  {:<10}{:>10}{:>13}{:>13}{:>13}\n", "STEP", "COUNT", "MEAN", "P99", "MAX");
  const auto row = [&text, &statistics](const char *step) {
    const TimingSummary &time = statistics.times.at(step);
    text += fmt::format("  {:<10}{:>10}{:>13.1f}{:>13.1f}{:>13.1f}\n", step, time.count, time.mean_us, time.p99_us,
                        time.max_us);
  };
  for (const char *step : timing_order) row(step);
  if (is_learned(statistics))
    for (const char *step : model_timing_order) row(step);
  return text;
}

std::string causes_text(const char *heading, const std::map<std::string, std::uint64_t> &counts) {
  std::string causes;
  for (const auto &[cause, count] : counts)
    if (count != 0) causes += fmt::format("  {:<20}{}\n", cause, count);
  return fmt::format("\n{}\n{}", heading, causes.empty() ? "  none\n" : causes);
}

std::string model_text(const StatisticsReport &statistics) {
  const StatisticsFacts &facts = statistics.facts;
  const auto count = [&statistics](const char *name) { return std::to_string(statistics.counters.at(name)); };
  return section("Model", {{"in service", has_model(facts) ? facts.model : "none"},
                           {"problem", facts.model_problem},
                           {"breaker", facts.breaker},
                           {"loaded", count("models_loaded")},
                           {"refused", count("models_refused")},
                           {"gangs decided", count("gangs_by_model")},
                           {"probes", count("probes")},
                           {"scores computed", count("scores_computed")},
                           {"scores reused", count("scores_reused")}}) +
         causes_text("Left to the heuristic", statistics.model_faults);
}

std::string dataset_text(const StatisticsReport &statistics) {
  const StatisticsFacts &facts = statistics.facts;
  const auto count = [&statistics](const char *name) { return std::to_string(statistics.counters.at(name)); };
  if (facts.dataset.empty()) return section("Dataset", {{"directory", "none"}});
  return section("Dataset", {{"directory", facts.dataset},
                             {"problem", facts.dataset_problem},
                             {"size", fmt::format("{:.1f} MB", static_cast<double>(facts.dataset_bytes) / 1e6)},
                             {"records written", std::to_string(facts.records_written)},
                             {"records lost", std::to_string(facts.records_lost)},
                             {"events lost", count("events_lost")},
                             {"jobs followed", std::to_string(facts.jobs_followed)},
                             {"claims of progress", count("claims_taken")},
                             {"claims refused", count("claims_refused")},
                             {"usage of steps", count("usages_taken")}});
}

// In the manner of sdiag.
std::string statistics_text(const StatisticsReport &statistics) {
  if (!statistics.understood) return "\nStatistics\n  not understood\n";
  const StatisticsFacts &facts = statistics.facts;
  const auto count = [&statistics](const char *name) { return std::to_string(statistics.counters.at(name)); };
  std::string text = section("Planner", {{"state", facts.planner},
                                         {"policy", facts.policy},
                                         {"settings file", facts.settings_file},
                                         {"settings problem", facts.settings_problem},
                                         {"settings refused", count("settings_refused")},
                                         {"decisions kept", std::to_string(facts.decisions_kept)}});
  text += section(fmt::format("Rounds (since {})", time_text(statistics.since)),
                  {{"rounds", count("rounds")},
                   {"last round", time_text(statistics.last_round)},
                   {"cut by RoundBudget", count("rounds_cut")},
                   {"gangs planned", count("gangs_planned")},
                   {"gangs not reached", count("gangs_not_reached")}});
  text += times_text(statistics);
  text += section("Plans", {{"made", count("plans_made")},
                            {"used", count("plans_used")},
                            {"stale", count("plans_stale")},
                            {"waits", count("waits")},
                            {"no room", count("no_room")},
                            {"left to stock", count("left_to_stock")},
                            {"held at the gate", count("held")}});
  text += causes_text("Fallbacks to stock", statistics.fallbacks);
  if (is_learned(statistics)) text += model_text(statistics);
  text += dataset_text(statistics);
  if (facts.mode == "shadow")
    text +=
        section("Shadow: what stock did", {{"as planned", count("shadow_same")}, {"otherwise", count("shadow_other")}});
  return text;
}

Json::Value statistics_object(const ControllerReport &report) {
  Json::Value object = Json::objectValue;
  if (!has_statistics(report)) return object;
  const std::string json = fact(report, statistics_fact);
  if (read_statistics(json).understood)
    std::istringstream(json) >> object;
  else
    object["problem"] = "not understood";
  return object;
}

} // namespace

Status judge(const ControllerReport &report, const std::string &our_dir, const std::string &built_for) {
  if (!report.answered) return {Health::no_answer, fmt::format("slurmctld does not answer: {}", report.problem)};
  if (report.harmony.empty()) return {Health::not_loaded, why_not_loaded(report, our_dir, built_for)};
  if (fact(report, "HarmonySched") != "loaded")
    return {Health::not_loaded,
            "select_cons_tres.so is ours, sched_backfill.so is not: is SchedulerType=sched/backfill, and were "
            "both files installed from one build?"};
  const std::string engine = fact(report, "HarmonyEngine");
  if (engine != "loaded" && engine != "not needed")
    return {Health::degraded, fmt::format("everything is left to stock; the engine is {}", engine)};
  const StatisticsReport statistics = read_statistics(fact(report, statistics_fact));
  if (planner_is_down(report, statistics))
    return {Health::degraded, fmt::format("everything is left to stock; the planner is {}; slurmctld's log says why",
                                          statistics.facts.planner)};
  if (const std::string &problem = statistics.facts.settings_problem; !problem.empty())
    return {Health::good, fmt::format("the last good settings stay; mend {} and scontrol reconfigure: {}",
                                      statistics.facts.settings_file, problem)};
  if (fact(report, "HarmonyMode") == "off") return {Health::good, ""};
  if (const std::string why = why_not_the_model(statistics); !why.empty()) return {Health::good, why};
  if (const std::string &problem = statistics.facts.dataset_problem; !problem.empty())
    return {Health::good,
            fmt::format("the dataset cannot be written, {}: {}",
                        statistics.facts.records_lost == 0 ? "records wait in memory" : "records are lost", problem)};
  return {Health::good, ""};
}

std::string status_text(const ControllerReport &report, const Status &status) {
  std::string text;
  const auto line = [&text](std::string_view name, std::string_view value) {
    fmt::format_to(std::back_inserter(text), "{:<12}{}\n", name, value);
  };
  if (report.answered) line("slurmctld", fmt::format("{} (Slurm {})", report.host, report.slurm_version));
  if (!report.harmony.empty()) {
    line("overlay",
         fmt::format("{}, built for Slurm {}", fact(report, "HarmonyVersion"), fact(report, "HarmonyBuiltFor")));
    line("select", fmt::format("loaded, in front of {}", fact(report, "HarmonySelect")));
    line("sched", fact(report, "HarmonySched"));
    line("mode", fact(report, "HarmonyMode"));
    line("engine", fact(report, "HarmonyEngine"));
    if (const std::string tests = fact(report, "HarmonyJobTests"); !tests.empty())
      line("job_test", fmt::format("{} seen, {} exceptions stopped", tests, fact(report, "HarmonyExceptions")));
    if (const std::string topology = fact(report, "HarmonyTopology"); !topology.empty()) line("topology", topology);
  } else if (report.answered) {
    line("overlay", "NOT LOADED");
  }
  if (!status.advice.empty()) line("problem", status.advice);
  if (has_statistics(report)) text += statistics_text(read_statistics(fact(report, statistics_fact)));
  return text;
}

std::string status_json(const ControllerReport &report, const Status &status) {
  Json::Value root;
  root["health"] = health_name(status.health);
  root["problem"] = status.advice;
  root["slurmctld"]["answered"] = report.answered;
  root["slurmctld"]["host"] = report.host;
  root["slurmctld"]["version"] = report.slurm_version;
  root["slurmctld"]["plugin_dir"] = report.plugin_dir;
  root["overlay"] = Json::objectValue;
  for (const auto &[name, value] : report.harmony)
    if (name != statistics_fact) root["overlay"][name] = value;
  root["statistics"] = statistics_object(report);
  Json::StreamWriterBuilder writer;
  writer["indentation"] = "  ";
  writer["precisionType"] = "decimal";
  writer["precision"] = 3;
  return Json::writeString(writer, root) + "\n";
}

} // namespace harmony
