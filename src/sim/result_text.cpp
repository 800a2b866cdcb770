#include "src/sim/result_text.h"

#include "src/sim/metrics.h"

#include <fmt/format.h>

#include <algorithm>

namespace harmony {
namespace {

std::string with_interval(const Mean &mean) {
  return mean.half > 0
             ? fmt::format("{} ±{:.0f} %", duration_text(mean.mean), mean.mean > 0 ? 100 * mean.half / mean.mean : 0)
             : duration_text(mean.mean);
}

std::string percent(double part) { return fmt::format("{:.0f} %", 100 * part); }

std::vector<std::string> row(const PolicySummary &summary, bool several, bool gap) {
  std::vector<std::string> cells{summary.policy,
                                 with_interval(summary.mean_jct),
                                 duration_text(summary.median_jct.mean),
                                 duration_text(summary.p95_jct.mean),
                                 duration_text(summary.waiting.mean),
                                 duration_text(summary.running.mean),
                                 fmt::format("{:.2f}", summary.slowdown.mean),
                                 percent(summary.gpus_allocated.mean),
                                 percent(summary.gpus_useful.mean),
                                 percent(summary.gpus_stranded.mean),
                                 fmt::format("{:.2f}", summary.fairness_mean.mean)};
  if (several) {
    const bool known = summary.against_best.mean > 0;
    cells.push_back(
        known ? fmt::format("{:+.1f} % ±{:.1f}", 100 * (summary.against_best.mean - 1), 100 * summary.against_best.half)
              : "-");
  }
  if (gap)
    cells.push_back(!summary.knows_gap ? "-" : summary.gap_closed.mean < 0 ? "< 0" : percent(summary.gap_closed.mean));
  return cells;
}

// Characters, not bytes: the plus-minus sign has two.
std::size_t width_of(const std::string &text) {
  return static_cast<std::size_t>(std::count_if(
      text.begin(), text.end(), [](char each) { return (static_cast<unsigned char>(each) & 0xc0) != 0x80; }));
}

std::string best_baseline(const Comparison &comparison) {
  const PolicySummary *best = nullptr;
  for (const PolicySummary &each : comparison.summaries)
    if (is_baseline(each.policy) && (!best || each.mean_jct.mean < best->mean_jct.mean)) best = &each;
  return best ? best->policy : std::string();
}

std::string table(const std::vector<std::vector<std::string>> &rows) {
  std::vector<std::size_t> widths(rows.front().size());
  for (const auto &cells : rows)
    for (std::size_t i = 0; i < cells.size(); ++i) widths[i] = std::max(widths[i], width_of(cells[i]));
  std::string text;
  for (const auto &cells : rows) {
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const std::string space(widths[i] - width_of(cells[i]), ' ');
      text += i == 0 ? cells[i] + space : "  " + space + cells[i];
    }
    text += '\n';
  }
  return text;
}

} // namespace

std::string duration_text(double seconds) {
  if (seconds < 100) return fmt::format("{:.1f} s", seconds);
  if (seconds < 100 * 60) return fmt::format("{:.1f} min", seconds / 60);
  if (seconds < 100 * 3600) return fmt::format("{:.2f} h", seconds / 3600);
  return fmt::format("{:.1f} d", seconds / 86400);
}

std::string comparison_text(const Comparison &comparison) {
  const std::vector<PolicySummary> &summaries = comparison.summaries;
  const bool several = summaries.size() > 1;
  const bool gap = std::any_of(summaries.begin(), summaries.end(), [](const auto &each) { return each.knows_gap; });
  std::string text =
      fmt::format("{}: {} nodes, {} GPUs, {} jobs a workload, {} workload{}", comparison.scenario, comparison.nodes,
                  comparison.gpus, comparison.jobs, summaries.empty() ? 0 : summaries.front().workloads,
                  !summaries.empty() && summaries.front().workloads == 1 ? "" : "s");
  if (comparison.load > 0) text += fmt::format(", load {:.2f}", comparison.load);
  text += fmt::format("; truth: {}; queue order: {}", comparison.truth, comparison.order);
  const std::string best = best_baseline(comparison);
  if (several && !best.empty()) text += fmt::format("; best baseline: {}", best);
  text += '\n';
  std::vector<std::vector<std::string>> rows{{"policy", "mean JCT", "median", "p95", "waiting", "running", "slowdown",
                                              "allocated", "useful", "stranded", "fairness"}};
  if (several) rows.front().emplace_back("against best");
  if (gap) rows.front().emplace_back("gap closed");
  for (const PolicySummary &summary : summaries) rows.push_back(row(summary, several, gap));
  return text + table(rows);
}

namespace {

// A cluster's name is whatever its file says.
std::string csv_field(const std::string &name) {
  if (name.find_first_of(",\"\n\r") == std::string::npos) return name;
  std::string safe = "\"";
  for (const char each : name) safe += each == '"' ? std::string("\"\"") : std::string(1, each);
  return safe + "\"";
}

} // namespace

std::string jobs_csv(const std::vector<Comparison> &comparisons) {
  std::string text =
      "scenario,load,policy,seed,job_id,type,workers,ps,gpus,submit_s,start_s,end_s,best_s,place_s,nodes,"
      "backfilled\n";
  for (const Comparison &comparison : comparisons)
    for (const std::vector<SimResult> &results : comparison.results)
      for (const SimResult &result : results)
        for (const JobResult &job : result.jobs)
          text += fmt::format("{},{},{},{},{},{},{},{},{},{:.3f},{:.3f},{:.3f},{:.3f},{:.3f},{},{}\n",
                              csv_field(comparison.scenario), comparison.load, result.policy, result.seed, job.job,
                              job.type, job.workers, job.ps, job.gpus, job.submit_s, job.start_s, job.end_s, job.best_s,
                              job.place_s, job.nodes, job.backfilled ? 1 : 0);
  return text;
}

} // namespace harmony
