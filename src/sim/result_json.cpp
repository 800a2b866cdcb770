#include "src/sim/metrics.h"
#include "src/sim/result_text.h"

#include <json/json.h>

namespace harmony {
namespace {

Json::Value mean_json(const Mean &mean) {
  Json::Value value;
  value["mean"] = mean.mean;
  value["interval_95"] = mean.half;
  return value;
}

Json::Value summary_json(const PolicySummary &summary) {
  Json::Value value;
  value["policy"] = summary.policy;
  value["workloads"] = summary.workloads;
  value["mean_jct_s"] = mean_json(summary.mean_jct);
  value["median_jct_s"] = mean_json(summary.median_jct);
  value["p95_jct_s"] = mean_json(summary.p95_jct);
  value["p99_jct_s"] = mean_json(summary.p99_jct);
  value["waiting_s"] = mean_json(summary.waiting);
  value["running_s"] = mean_json(summary.running);
  value["makespan_s"] = mean_json(summary.makespan);
  value["slowdown"] = mean_json(summary.slowdown);
  value["fairness_mean"] = mean_json(summary.fairness_mean);
  value["fairness_max"] = mean_json(summary.fairness_max);
  value["gpus_allocated"] = mean_json(summary.gpus_allocated);
  value["gpus_useful"] = mean_json(summary.gpus_useful);
  value["gpus_stranded"] = mean_json(summary.gpus_stranded);
  if (!summary.best_baseline.empty()) {
    value["best_baseline"] = summary.best_baseline;
    value["against_best_baseline"] = mean_json(summary.against_best);
  }
  if (summary.knows_gap) value["gap_closed"] = mean_json(summary.gap_closed);
  return value;
}

Json::Value run_json(const SimResult &result) {
  Json::Value value;
  value["policy"] = result.policy;
  value["seed"] = Json::UInt64{result.seed};
  value["jobs"] = Json::UInt64{result.jobs.size()};
  std::vector<double> jct;
  for (const JobResult &job : result.jobs) jct.push_back(job.jct());
  value["mean_jct_s"] = mean_of(jct).mean;
  value["makespan_s"] = result.makespan_s;
  value["gpus_allocated"] = result.gpus_allocated;
  value["gpus_useful"] = result.gpus_useful;
  value["gpus_stranded"] = result.gpus_stranded;
  value["rounds"] = Json::UInt64{result.rounds};
  value["gangs_looked_at"] = Json::UInt64{result.gangs_looked_at};
  value["events"] = Json::UInt64{result.events};
  value["waits"] = Json::UInt64{result.waits};
  value["left_to_stock"] = Json::UInt64{result.left_to_stock};
  if (!result.decision_us.empty()) {
    value["decision_us_p50"] = quantile(result.decision_us, 0.5);
    value["decision_us_p99"] = quantile(result.decision_us, 0.99);
  }
  return value;
}

Json::Value comparison_json(const Comparison &comparison) {
  Json::Value value;
  value["scenario"] = comparison.scenario;
  value["truth"] = comparison.truth;
  value["order"] = comparison.order;
  if (comparison.load > 0) value["load"] = comparison.load;
  value["nodes"] = comparison.nodes;
  value["gpus"] = comparison.gpus;
  value["jobs"] = Json::UInt64{comparison.jobs};
  value["command"] = comparison.command;
  for (const PolicySummary &summary : comparison.summaries) value["policies"].append(summary_json(summary));
  for (const std::vector<SimResult> &results : comparison.results)
    for (const SimResult &result : results) value["runs"].append(run_json(result));
  return value;
}

} // namespace

std::string comparisons_json(const std::vector<Comparison> &comparisons) {
  Json::Value value;
  value["harmony"] = HARMONY_VERSION;
  value["comparisons"] = Json::arrayValue;
  for (const Comparison &comparison : comparisons) value["comparisons"].append(comparison_json(comparison));
  Json::StreamWriterBuilder writer;
  writer["indentation"] = "  ";
  writer["precision"] = 15;
  return Json::writeString(writer, value) + "\n";
}

} // namespace harmony
