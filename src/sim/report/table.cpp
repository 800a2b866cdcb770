#include "src/sim/report/table.h"

#include "src/sim/report/text.h"

#include <fmt/format.h>

#include <cmath>

namespace harmony {
namespace {

enum class Kind { time, times, part };

struct Column {
  const char *key;
  const char *heading;
  Mean PolicySummary::*figure;
  Kind kind;
  int better; // -1: less is, 1: more is, 0: neither
};

constexpr Column columns[] = {
    {"mean_jct_s", "mean JCT", &PolicySummary::mean_jct, Kind::time, -1},
    {"median_jct_s", "median JCT", &PolicySummary::median_jct, Kind::time, -1},
    {"p95_jct_s", "p95 JCT", &PolicySummary::p95_jct, Kind::time, -1},
    {"p99_jct_s", "p99 JCT", &PolicySummary::p99_jct, Kind::time, -1},
    {"waiting_s", "waiting", &PolicySummary::waiting, Kind::time, -1},
    {"running_s", "running", &PolicySummary::running, Kind::time, -1},
    {"makespan_s", "make&shy;span", &PolicySummary::makespan, Kind::time, -1},
    {"slowdown", "slow&shy;down", &PolicySummary::slowdown, Kind::times, -1},
    {"fairness_mean", "fair&shy;ness, mean", &PolicySummary::fairness_mean, Kind::times, -1},
    {"fairness_max", "fair&shy;ness, max", &PolicySummary::fairness_max, Kind::times, -1},
    {"gpus_allocated", "GPUs allo&shy;cated", &PolicySummary::gpus_allocated, Kind::part, 0},
    {"gpus_useful", "GPUs useful", &PolicySummary::gpus_useful, Kind::part, 1},
    {"gpus_stranded", "GPUs stranded", &PolicySummary::gpus_stranded, Kind::part, -1},
    {"against_best", "JCT / best base&shy;line", &PolicySummary::against_best, Kind::times, -1},
    {"gap_closed", "gap closed", &PolicySummary::gap_closed, Kind::part, 1},
};

// What is not known is not a number, and a dash in the table.
Mean value_of(const PolicySummary &summary, const Column &column) {
  const Mean &mean = summary.*column.figure;
  const bool unknown = (column.figure == &PolicySummary::gap_closed && !summary.knows_gap) ||
                       (column.figure == &PolicySummary::against_best && !(mean.mean > 0));
  return unknown ? Mean{std::nan(""), std::nan("")} : mean;
}

// Long makespans beside short waits: one unit for all times of the table would print zeros, so each column has its own.
TimeUnit unit_of(const Comparison &comparison, const Column &column) {
  double largest = 0;
  for (const PolicySummary &summary : comparison.summaries)
    if (const Mean mean = value_of(summary, column); std::isfinite(mean.mean)) largest = std::fmax(largest, mean.mean);
  return time_unit(largest);
}

// Of the policies that are none of the bounds; not a number if nothing is best.
double best_of(const Comparison &comparison, const Column &column) {
  double best = std::nan("");
  for (const PolicySummary &summary : comparison.summaries) {
    const double value = value_of(summary, column).mean;
    if (is_bound(summary.policy) || !std::isfinite(value)) continue;
    if (std::isnan(best) || column.better * value > column.better * best) best = value;
  }
  return column.better == 0 ? std::nan("") : best;
}

std::string cell(const Mean &mean, const Column &column, const TimeUnit &unit, bool best) {
  const double scale = column.kind == Kind::time ? 1 / unit.seconds : column.kind == Kind::part ? 100 : 1;
  if (column.figure == &PolicySummary::gap_closed && mean.mean < 0)
    return fmt::format("<td data-v=\"{}\" data-h=\"{}\">&lt; 0</td>", number_for_programs(mean.mean),
                       number_for_programs(mean.half));
  std::string half = half_width(mean, 1 / scale);
  if (!half.empty()) half = fmt::format("<small>± {}</small>", half);
  return fmt::format("<td{} data-v=\"{}\" data-h=\"{}\">{}{}</td>", best ? " class=\"best\"" : "",
                     number_for_programs(mean.mean), number_for_programs(mean.half), figure(mean.mean * scale), half);
}

std::string heading(const Column &column, const TimeUnit &unit) {
  const std::string in = column.kind == Kind::time   ? fmt::format(" ({})", unit.name)
                         : column.kind == Kind::part ? std::string(" (%)")
                                                     : std::string();
  return fmt::format("<th scope=\"col\" data-key=\"{}\"{}><button type=\"button\">{}{}</button></th>", column.key,
                     column.figure == &PolicySummary::mean_jct ? " aria-sort=\"ascending\"" : "", column.heading, in);
}

} // namespace

std::string figures_table(const Comparison &comparison, const std::vector<std::string> &policies,
                          const std::string &id) {
  std::string html =
      fmt::format("<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"All figures of {}\">"
                  "<table class=\"figures\" id=\"{}\" data-scenario=\"{}\" data-load=\"{}\"><thead><tr>"
                  "<th scope=\"col\" data-key=\"policy\"><button type=\"button\">policy</button></th>",
                  page_text(title_of(comparison), 80), id, page_text(comparison.scenario, 200),
                  comparison.load > 0 ? number_for_programs(comparison.load) : "");
  for (const Column &column : columns) html += heading(column, unit_of(comparison, column));
  html += "</tr></thead><tbody>\n";
  for (const std::size_t i : ranked(comparison)) {
    const PolicySummary &summary = comparison.summaries[i];
    html += fmt::format("<tr{}><td data-v=\"{}\"><i class=\"swatch\" style=\"background:{}\"></i>{}{}</td>",
                        is_bound(summary.policy) ? " class=\"bound\"" : "", page_text(summary.policy, 200),
                        policy_style(index_of(policies, summary.policy)).colour, page_text(summary.policy, 60),
                        is_bound(summary.policy) ? " (bound)" : "");
    for (const Column &column : columns) {
      const Mean mean = value_of(summary, column);
      const bool best = !is_bound(summary.policy) && mean.mean == best_of(comparison, column);
      html += cell(mean, column, unit_of(comparison, column), best);
    }
    html += "</tr>\n";
  }
  return html + "</tbody></table></div>\n";
}

} // namespace harmony
