#include "src/sim/report/charts.h"

#include "src/sim/report/chart_parts.h"
#include "src/sim/report/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace harmony {
namespace {

constexpr int row_height = 27;    // pixels
constexpr double worst_shown = 3; // times the best: beyond it a bar is cut, and labelled

double interval(const Mean &mean) { return std::isfinite(mean.half) && mean.half > 0 ? mean.half : 0; }

std::string gnuplot_colour(const std::vector<std::string> &policies, const std::string &policy) {
  return "0x" + policy_style(index_of(policies, policy)).colour.substr(1);
}

// The left margin that the longest name needs, as a part of the width: gnuplot only knows the names' places.
double margin(const Comparison &comparison, int width) {
  std::size_t longest = 8;
  for (const PolicySummary &summary : comparison.summaries) longest = std::max(longest, summary.policy.size());
  return (7.2 * static_cast<double>(std::min(longest, longest_label + 1)) + 18) / width;
}

// Where an axis of times ends: beyond some times the best a bar is cut, so that one bad policy does not hide what tells
// the others apart.
double axis_end(const Comparison &comparison) {
  double largest = 0, best = HUGE_VAL;
  for (const PolicySummary &summary : comparison.summaries) {
    const double mean = drawable(summary.mean_jct.mean);
    largest = std::max(largest, mean + interval(summary.mean_jct));
    if (mean > 0) best = std::min(best, mean);
  }
  return largest > 0 ? std::min(largest, worst_shown * best) : 1;
}

// One workload has none.
bool has_intervals(const Comparison &comparison) {
  return std::any_of(comparison.summaries.begin(), comparison.summaries.end(),
                     [](const PolicySummary &summary) { return interval(summary.mean_jct) > 0; });
}

// The frame of a chart with a row for each policy, best first, and times to the right.
void begin_rows(Drawing &drawing, const Comparison &comparison, double least, double most, const std::string &axis) {
  const std::vector<std::size_t> order = ranked(comparison);
  drawing.width = wide_chart;
  drawing.height = 72 + row_height * static_cast<int>(std::max<std::size_t>(order.size(), 2));
  drawing.commands += plain_chart;
  drawing.commands +=
      fmt::format("set lmargin at screen {:.4f}\nset rmargin at screen 0.97\nset tmargin at screen 0.98\n"
                  "set bmargin at screen {:.4f}\nset xrange [{:.6g}:{:.6g}]\nset yrange [{}.5:-0.5]\n"
                  "set xlabel '{}' textcolor rgb '#333333'\nset xtics scale 0\nunset ytics\nset grid noytics\n",
                  margin(comparison, wide_chart), 56.0 / drawing.height, least, most,
                  std::max<std::size_t>(order.size(), 2) - 1, axis);
  for (std::size_t row = 0; row < order.size(); ++row)
    drawing.commands +=
        fmt::format("set label {} at graph 0, first {} right offset char -0.8, 0\n",
                    drawing.text(page_text(comparison.summaries[order[row]].policy, longest_label)), row);
}

std::string described(const Comparison &comparison, const std::string &what) {
  std::string all = what;
  const TimeUnit unit = time_unit(axis_end(comparison));
  for (const std::size_t i : ranked(comparison)) {
    const PolicySummary &summary = comparison.summaries[i];
    all += fmt::format("; {}: {} {}", page_text(summary.policy, longest_label), figure(summary.mean_jct, unit.seconds),
                       unit.name);
  }
  return all;
}

} // namespace

Drawing jct_chart(const Comparison &comparison, const std::vector<std::string> &policies) {
  Drawing drawing;
  drawing.title = fmt::format("Mean JCT by policy, {}", page_text(title_of(comparison), 80));
  drawing.description = described(comparison, "Mean JCT, best first, with 95 % intervals");
  const double largest = axis_end(comparison);
  const TimeUnit unit = time_unit(largest);
  const double end = largest / unit.seconds;
  begin_rows(drawing, comparison, 0, 1.3 * end, fmt::format("mean JCT ({})", unit.name));
  std::string rows;
  int row = 0;
  for (const std::size_t i : ranked(comparison)) {
    const PolicySummary &summary = comparison.summaries[i];
    const double mean = drawable(summary.mean_jct.mean) / unit.seconds,
                 half = interval(summary.mean_jct) / unit.seconds;
    rows +=
        fmt::format("{:.6g} {} {} {:.6g} {:.6g}\n", std::min(mean, end), row, gnuplot_colour(policies, summary.policy),
                    std::clamp(mean - half, 0.0, end), std::min(mean + half, end));
    drawing.commands +=
        fmt::format("set label '{}{}' at {:.6g}, {} left offset char 0.7, 0 textcolor rgb '#333333'\n",
                    mean > end ? "→ " : "", figure(summary.mean_jct, unit.seconds), std::min(mean + half, end), row++);
  }
  if (rows.empty()) rows = "0 0 0 0 0\n";
  drawing.commands += fmt::format(
      "$rows << EOD\n{}EOD\nplot $rows using (0):2:(0):1:($2-0.34):($2+0.34):3 with boxxyerror linecolor rgb variable",
      rows);
  if (has_intervals(comparison))
    drawing.commands += ", '' using 4:2:($5-$4):(0) with vectors nohead linecolor rgb '#111111' linewidth 1.6,"
                        " '' using 4:($2-0.14):(0):(0.28) with vectors nohead linecolor rgb '#111111' linewidth 1.6,"
                        " '' using 5:($2-0.14):(0):(0.28) with vectors nohead linecolor rgb '#111111' linewidth 1.6";
  drawing.commands += '\n';
  return drawing;
}

namespace {

// Where the time from submission to end went, means over all jobs of all workloads.
struct TimeParts {
  double waited = 0, best = 0, place = 0, neighbours = 0;
};

TimeParts time_parts(const Comparison &comparison, std::size_t policy) {
  TimeParts sums;
  double jobs = 0, placed = 0, ran = 0;
  if (policy < comparison.results.size())
    for (const SimResult &result : comparison.results[policy])
      for (const JobResult &job : result.jobs) {
        sums.waited += job.waited();
        sums.best += job.best_s;
        placed += job.place_s > 0 ? job.place_s : job.best_s;
        ran += job.ran();
        ++jobs;
      }
  if (jobs == 0) return {};
  // Noise can make a job faster than it should be: nothing is below 0.
  TimeParts parts;
  parts.waited = sums.waited / jobs;
  parts.best = std::min(sums.best, ran) / jobs;
  parts.place = std::clamp((placed - sums.best) / jobs, 0.0, ran / jobs - parts.best);
  parts.neighbours = ran / jobs - parts.best - parts.place;
  return parts;
}

} // namespace

Drawing time_chart(const Comparison &comparison, const std::vector<std::string> &policies) {
  Drawing drawing;
  drawing.title = fmt::format("Waiting and running time by policy, {}", page_text(title_of(comparison), 80));
  drawing.description = "Mean time of a job: waiting, running at its best, lost to its place, lost to its neighbours";
  const TimeUnit unit = time_unit(axis_end(comparison));
  const double end = axis_end(comparison) / unit.seconds;
  std::string rows;
  double most = 0;
  int row = 0;
  for (const std::size_t i : ranked(comparison)) {
    const PolicySummary &summary = comparison.summaries[i];
    const TimeParts parts = time_parts(comparison, i);
    const double a = drawable(parts.waited) / unit.seconds, b = a + drawable(parts.best) / unit.seconds,
                 c = b + drawable(parts.place) / unit.seconds, d = c + drawable(parts.neighbours) / unit.seconds;
    most = std::max(most, std::min(d, end));
    if (d > end)
      drawing.commands += fmt::format("set label '→ {}' at {:.6g}, {} right front textcolor rgb '#111111'\n", figure(d),
                                      0.99 * end, row);
    rows += fmt::format("{} {:.6g} {:.6g} {:.6g} {:.6g} {}\n", row++, std::min(a, end), std::min(b, end),
                        std::min(c, end), std::min(d, end), gnuplot_colour(policies, summary.policy));
    drawing.description += fmt::format("; {}: {}, {}, {}, {} {}", page_text(summary.policy, longest_label), figure(a),
                                       figure(b - a), figure(c - b), figure(d - c), unit.name);
  }
  if (rows.empty()) rows = "0 0 0 0 0 0\n";
  if (!(most > 0)) most = 1;
  begin_rows(drawing, comparison, -0.012 * most, 1.05 * most, fmt::format("mean time of a job ({})", unit.name));
  drawing.commands += fmt::format("$rows << EOD\n{}EOD\nplot ", rows);
  const char *const colours[] = {"#c3c9d1", "#44546a", "#e8b14c", "#b2182b"};
  for (int part = 0; part < 4; ++part)
    drawing.commands +=
        fmt::format("{} using (0):1:({}):{}:($1-0.34):($1+0.34) with boxxyerror linecolor rgb '{}',",
                    part ? "''" : "$rows", part ? fmt::format("${}", part + 1) : "0", part + 2, colours[part]);
  drawing.commands += fmt::format(" '' using (0):1:({:.6g}):(0):($1-0.34):($1+0.34):6 with boxxyerror linecolor rgb "
                                  "variable\n",
                                  -0.012 * most);
  return drawing;
}

Drawing overview_chart(const std::vector<Comparison> &comparisons, const std::vector<std::string> &policies) {
  Drawing drawing;
  drawing.width = 1050;
  drawing.height = 330;
  drawing.title = "Mean JCT by scenario and policy";
  drawing.description = "Mean JCT relative to the best policy of the scenario, with 95 % intervals";
  std::string rows, ticks;
  const double bar = 0.84 / static_cast<double>(std::max<std::size_t>(policies.size(), 1));
  double most = 1.2;
  for (std::size_t c = 0; c < comparisons.size(); ++c) {
    const Comparison &comparison = comparisons[c];
    ticks += fmt::format("{}{} {}", c ? ", " : "", drawing.text(page_text(title_of(comparison), longest_label)), c);
    const std::vector<std::size_t> order = ranked(comparison);
    const double best = order.empty() ? 0 : comparison.summaries[order.front()].mean_jct.mean;
    if (!(best > 0)) continue;
    for (const std::size_t i : order) {
      const PolicySummary &summary = comparison.summaries[i];
      const double times = drawable(summary.mean_jct.mean) / best, half = interval(summary.mean_jct) / best;
      const double x =
          static_cast<double>(c) - 0.42 + bar * (static_cast<double>(index_of(policies, summary.policy)) + 0.5);
      const bool cut = times > worst_shown;
      most = std::max(most, std::min(times + half, worst_shown));
      rows += fmt::format("{:.5g} {:.5g} {} {:.5g} {:.5g}\n", x, std::min(times, worst_shown),
                          gnuplot_colour(policies, summary.policy), cut ? worst_shown : std::max(times - half, 0.0),
                          cut ? worst_shown : std::min(times + half, worst_shown));
      if (cut)
        drawing.commands += fmt::format("set label '{}' at {:.5g}, {} center offset 0, 0.6 font 'sans-serif,11'\n",
                                        figure(times), x, worst_shown);
    }
  }
  if (rows.empty()) rows = "0 0 0 0 0\n";
  drawing.commands += plain_chart;
  drawing.commands += fmt::format(
      "set lmargin at screen 0.065\nset rmargin at screen 0.995\nset tmargin at screen 0.93\n"
      "set xrange [-0.5:{}]\nset yrange [0:{:.5g}]\nset xtics ({}) scale 0\nset ytics scale 0\nset grid noxtics\n"
      "set ylabel 'times the best' textcolor rgb '#333333'\n$rows << EOD\n{}EOD\n"
      "plot $rows using 1:2:({:.5g}):3 with boxes linecolor rgb variable, 1 with lines linecolor rgb '#555555',"
      " $rows using 1:4:(0):($5-$4) with vectors nohead linecolor rgb '#111111' linewidth 1.4\n",
      static_cast<double>(comparisons.size()) - 0.5, 1.02 * most, ticks, rows, 0.9 * bar);
  return drawing;
}

} // namespace harmony
