#include "src/tool/status_facts.h"
#include "src/values/printable.h"

#include <fmt/format.h>

#include <initializer_list>
#include <iterator>
#include <utility>
#include <vector>

namespace harmony {
namespace {

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
    {"claims_taken", "Reports of progress by jobs' owners."},
    {"claims_refused", "Reports of progress that were not understood."},
    {"usages_taken", "Reports of nodes on what steps used."},
    {"events_lost", "Beginnings and ends of jobs that were not recorded because the queue was full."},
    {"gangs_by_model", "Decisions that the model made."},
    {"probes", "Times the model was asked in shadow, while the breaker was not closed."},
    {"models_loaded", "Models that were taken into service."},
    {"models_refused", "Models that were not."},
    {"scores_computed", "Scores that the model computed."},
    {"scores_reused", "Scores taken from a candidate in the same state."},
};

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
  metrics.gauge("harmony_dataset_good", "0 if the dataset cannot be written.",
                int{facts.dataset_problem.empty()});
  metrics.gauge("harmony_dataset_bytes", "Size of the dataset's directory.", facts.dataset_bytes);
  metrics.family("harmony_records_written_total", "counter", "Records written to the dataset since slurmctld's start.");
  metrics.sample("harmony_records_written_total", {}, facts.records_written);
  metrics.family("harmony_records_lost_total", "counter", "Records of the dataset lost since slurmctld's start.");
  metrics.sample("harmony_records_lost_total", {}, facts.records_lost);
  metrics.gauge("harmony_counters_since_timestamp_seconds", "When the counters were last reset.", statistics.since);
  if (statistics.last_round != 0)
    metrics.gauge("harmony_last_round_timestamp_seconds", "When the last planning round ended.", statistics.last_round);
  if (is_learned(statistics)) add_model(metrics, facts);
  add_counters(metrics, statistics);
  add_times(metrics, statistics);
}

} // namespace

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
