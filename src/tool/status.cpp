#include "src/tool/status.h"

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

std::string fact(const ControllerReport &report, const std::string &name) {
  const auto found = report.harmony.find(name);
  return found == report.harmony.end() ? std::string() : found->second;
}

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

const char *health_name(Health health) {
  switch (health) {
  case Health::good: return "good";
  case Health::not_loaded: return "not-loaded";
  case Health::degraded: return "degraded";
  case Health::no_answer: break;
  }
  return "no-answer";
}

// Steps in the order of a round.
constexpr const char *timing_order[] = {"lock", "snapshot", "plan", "publish", "round", "job_test"};
constexpr const char *model_timing_order[] = {"encode", "inference", "propose"};

constexpr std::pair<const char *, const char *> counter_help[] = {
    {"rounds", "Planning rounds."},
    {"rounds_cut", "Rounds that RoundBudget ended before all gangs were planned."},
    {"gangs_planned", "Gangs that a policy was asked about."},
    {"gangs_not_reached", "Gangs left for the next round because RoundBudget was over."},
    {"plans_made", "Plans made."},
    {"plans_used", "Plans that a job was started by."},
    {"plans_stale", "Plans thrown away because the cluster had changed."},
    {"waits", "Decisions that a gang waits."},
    {"no_room", "Decisions that a gang does not fit now."},
    {"left_to_stock", "Decisions that stock decides."},
    {"held", "Times a job was held back until its plan was made."},
    {"shadow_same", "In shadow mode, jobs that stock placed as planned."},
    {"shadow_other", "In shadow mode, jobs that stock placed otherwise."},
    {"settings_refused", "Times harmony.conf was refused."},
    {"gangs_by_model", "Decisions that the model made."},
    {"probes", "Times the model was asked in shadow, while the breaker was not closed."},
    {"models_loaded", "Models that were taken into service."},
    {"models_refused", "Models that were not."},
    {"scores_computed", "Scores that the model computed."},
    {"scores_reused", "Scores taken from a candidate in the same state."},
};

constexpr const char *statistics_fact = "HarmonyStatistics";

bool has_statistics(const ControllerReport &report) { return report.harmony.count(statistics_fact) != 0; }

bool begins_with(std::string_view text, std::string_view start) { return text.substr(0, start.size()) == start; }

// The planner should plan, and does not.
bool planner_is_down(const ControllerReport &report, const StatisticsReport &statistics) {
  const std::string &planner = statistics.facts.planner;
  return fact(report, "HarmonyMode") != "off" &&
         (begins_with(planner, "unwell") || begins_with(planner, "not running"));
}

bool is_learned(const StatisticsReport &statistics) { return statistics.facts.policy == "learned"; }

bool has_model(const StatisticsFacts &facts) { return !facts.model.empty() && facts.model != "none"; }

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

// Builds the text format of Prometheus: https://prometheus.io/docs/instrumenting/exposition_formats
class Metrics {
public:
  using Labels = std::initializer_list<std::pair<const char *, std::string>>;

  void family(const char *name, const char *type, const char *help) {
    fmt::format_to(std::back_inserter(text_), "# HELP {} {}\n# TYPE {} {}\n", name, help, name, type);
  }

  template <class Number> void sample(const std::string &name, const Labels &labels, Number value) {
    std::string all;
    for (const auto &[label, text] : labels)
      all += fmt::format("{}{}=\"{}\"", all.empty() ? "" : ",", label, escaped(text));
    fmt::format_to(std::back_inserter(text_), all.empty() ? "{}{} {}\n" : "{}{{{}}} {}\n", name, all, value);
  }

  template <class Number> void gauge(const char *name, const char *help, Number value) {
    family(name, "gauge", help);
    sample(name, {}, value);
  }

  const std::string &text() const { return text_; }

private:
  static std::string escaped(const std::string &text) {
    std::string safe;
    for (const char c : one_line(text)) {
      if (c == '"' || c == '\\') safe += '\\';
      safe += c;
    }
    return safe;
  }

  std::string text_;
};

void add_counters(Metrics &metrics, const StatisticsReport &statistics) {
  for (const auto &[name, help] : counter_help) {
    const std::string metric = fmt::format("harmony_{}_total", name);
    metrics.family(metric.c_str(), "counter", help);
    metrics.sample(metric, {}, statistics.counters.at(name));
  }
  metrics.family("harmony_fallbacks_total", "counter", "Managed jobs left to stock, by cause.");
  for (const auto &[cause, count] : statistics.fallbacks)
    metrics.sample("harmony_fallbacks_total", {{"cause", cause}}, count);
  metrics.family("harmony_model_faults_total", "counter",
                 "Gangs left to the heuristic instead of the model, by cause.");
  for (const auto &[cause, count] : statistics.model_faults)
    metrics.sample("harmony_model_faults_total", {{"cause", cause}}, count);
}

void add_model(Metrics &metrics, const StatisticsFacts &facts) {
  metrics.gauge("harmony_model_in_service", "1 if a model is loaded.", int{has_model(facts)});
  metrics.gauge("harmony_model_good", "0 if the model that is wanted was refused or is missing.",
                int{facts.model_problem.empty()});
  metrics.gauge("harmony_breaker_closed", "0 if the model is not used because it failed time after time.",
                int{facts.breaker.empty() || begins_with(facts.breaker, "closed")});
}

void add_times(Metrics &metrics, const StatisticsReport &statistics) {
  constexpr double second = 1e6;
  std::vector<const char *> steps(std::begin(timing_order), std::end(timing_order));
  steps.insert(steps.end(), std::begin(model_timing_order), std::end(model_timing_order));
  metrics.family("harmony_step_seconds", "summary", "How long each step takes, since the last reset.");
  for (const char *step : steps) {
    const TimingSummary &time = statistics.times.at(step);
    if (time.count != 0)
      metrics.sample("harmony_step_seconds", {{"step", step}, {"quantile", "0.99"}}, time.p99_us / second);
    metrics.sample("harmony_step_seconds_sum", {{"step", step}}, time.sum_us / second);
    metrics.sample("harmony_step_seconds_count", {{"step", step}}, time.count);
  }
  metrics.family("harmony_step_max_seconds", "gauge", "The longest each step took since the last reset.");
  for (const char *step : steps)
    metrics.sample("harmony_step_max_seconds", {{"step", step}}, statistics.times.at(step).max_us / second);
}

void add_statistics(Metrics &metrics, const StatisticsReport &statistics) {
  metrics.gauge("harmony_statistics_understood", "1 if this command understands what slurmctld counts.",
                int{statistics.understood});
  if (!statistics.understood) return;
  const StatisticsFacts &facts = statistics.facts;
  metrics.gauge("harmony_planner_running", "1 if the planner is running.", int{begins_with(facts.planner, "running")});
  metrics.gauge("harmony_settings_good", "0 if harmony.conf was refused and older settings stay.",
                int{facts.settings_problem.empty()});
  metrics.gauge("harmony_decisions_kept", "Decisions that harmony explain can show.", facts.decisions_kept);
  metrics.gauge("harmony_counters_since_timestamp_seconds", "When the counters were last reset.", statistics.since);
  if (statistics.last_round != 0)
    metrics.gauge("harmony_last_round_timestamp_seconds", "When the last planning round ended.", statistics.last_round);
  if (is_learned(statistics)) add_model(metrics, facts);
  add_counters(metrics, statistics);
  add_times(metrics, statistics);
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
  return {Health::good, fact(report, "HarmonyMode") == "off" ? "" : why_not_the_model(statistics)};
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

std::string status_prometheus(const ControllerReport &report, const Status &status) {
  Metrics metrics;
  const bool up = status.health == Health::good || status.health == Health::degraded;
  metrics.gauge("harmony_up", "1 if slurmctld answers and has the overlay loaded.", int{up});
  metrics.family("harmony_health", "gauge", "1 for the state that harmony status reports, 0 for the others.");
  for (const Health health : {Health::good, Health::degraded, Health::not_loaded, Health::no_answer})
    metrics.sample("harmony_health", {{"state", health_name(health)}}, int{health == status.health});
  if (!up) return metrics.text();
  const StatisticsReport statistics = read_statistics(fact(report, statistics_fact));
  metrics.family("harmony_build_info", "gauge", "Always 1; the labels tell which overlay runs in which slurmctld.");
  metrics.sample("harmony_build_info",
                 {{"version", fact(report, "HarmonyVersion")}, {"slurm_version", report.slurm_version}}, 1);
  metrics.family("harmony_mode_info", "gauge", "Always 1; the labels tell how it is configured.");
  metrics.sample(
      "harmony_mode_info",
      {{"mode", fact(report, "HarmonyMode")}, {"policy", statistics.facts.policy}, {"model", statistics.facts.model}},
      1);
  if (has_statistics(report)) add_statistics(metrics, statistics);
  return metrics.text();
}

} // namespace harmony
