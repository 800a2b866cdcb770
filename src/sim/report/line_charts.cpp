// Distributions, and what happened over time.
#include "src/sim/report/charts.h"

#include "src/sim/report/chart_parts.h"
#include "src/sim/report/text.h"

#include <fmt/format.h>

#include <algorithm>

namespace harmony {
namespace {

// At most so many of a list of this length, evenly, the first and the last among them.
std::vector<std::size_t> thinned(std::size_t length, std::size_t most) {
  std::vector<std::size_t> kept;
  const std::size_t count = std::min(length, most);
  for (std::size_t k = 0; k < count; ++k) kept.push_back(count == 1 ? 0 : k * (length - 1) / (count - 1));
  return kept;
}

std::string nothing(const char *why) {
  return fmt::format("{}set label '{}' at graph 0.5, 0.5 center\nunset tics\nplot [0:1] [0:1] -1\n", plain_chart, why);
}

// The curves of a figure of jobs, all workloads of a policy together, as data and plot.
struct Curves {
  std::string data, plots;
  double least = HUGE_VAL, most = 0;
};

template <class Figure>
Curves curves(Drawing &drawing, const Comparison &comparison, const std::vector<std::string> &policies, Figure figure) {
  constexpr std::size_t points = 200;
  Curves all;
  for (const std::size_t i : ranked(comparison)) {
    std::vector<double> values;
    if (i < comparison.results.size())
      for (const SimResult &result : comparison.results[i])
        for (const JobResult &job : result.jobs)
          if (std::isfinite(figure(job))) values.push_back(std::max(figure(job), 1e-3)); // the axis is logarithmic
    if (values.empty()) continue;
    std::sort(values.begin(), values.end());
    all.least = std::min(all.least, values.front());
    all.most = std::max(all.most, values.back());
    all.data += fmt::format("$p{} << EOD\n{:.6g} 0\n", i, values.front());
    for (const std::size_t at : thinned(values.size(), points))
      all.data +=
          fmt::format("{:.6g} {:.5f}\n", values[at], static_cast<double>(at + 1) / static_cast<double>(values.size()));
    all.data += "EOD\n";
    const std::string &policy = comparison.summaries[i].policy;
    const PolicyStyle style = policy_style(index_of(policies, policy));
    drawing.plots.push_back(page_text(policy, longest_label));
    all.plots +=
        fmt::format("{}$p{} using 1:2 with steps linecolor rgb '{}' {} linewidth 2", all.plots.empty() ? "" : ", ", i,
                    style.colour, style.dashes.empty() ? std::string() : fmt::format("dashtype ({})", style.dashes));
  }
  return all;
}

void draw_curves(Drawing &drawing, const Curves &all, const std::string &axis) {
  drawing.width = wide_chart;
  drawing.height = 380;
  if (all.plots.empty()) {
    drawing.commands = nothing("no jobs");
    return;
  }
  drawing.commands = all.data + plain_chart + axis;
  drawing.commands += fmt::format(
      "set logscale x\n"
      "set lmargin at screen 0.09\nset rmargin at screen 0.97\nset tmargin at screen 0.97\nset bmargin at screen 0.17\n"
      "set yrange [0:1]\nset ytics ('0' 0, '25 %%' 0.25, '50 %%' 0.5, '75 %%' 0.75, '100 %%' 1) scale 0\n"
      "set xrange [{:.6g}:{:.6g}]\nplot {}\n",
      all.least / 1.1, all.most * 1.1, all.plots);
}

// The end of the first workload under the slowest policy, and its longest queue: every panel has the same axes.
struct Extent {
  double end_s = 0;
  int pending = 1;
};

Extent extent_of(const Comparison &comparison) {
  Extent extent;
  for (const std::vector<SimResult> &results : comparison.results) {
    if (results.empty()) continue;
    extent.end_s = std::max(extent.end_s, drawable(results.front().makespan_s));
    for (const Usage &usage : results.front().usage) {
      extent.end_s = std::max(extent.end_s, drawable(usage.at_s));
      extent.pending = std::max(extent.pending, usage.pending);
    }
  }
  if (!(extent.end_s > 0)) extent.end_s = 1;
  return extent;
}

// Each moment holds until the next one.
std::string usage_rows(const std::vector<Usage> &usage, double unit) {
  constexpr std::size_t points = 120;
  std::string rows, before;
  for (const std::size_t at : thinned(usage.size(), points)) {
    const Usage &one = usage[at];
    const double time = one.at_s / unit;
    const std::string now = fmt::format("{} {:.4g} {}", one.gpus_allocated, drawable(one.gpus_useful), one.pending);
    if (!before.empty()) rows += fmt::format("{:.6g} {}\n", time, before);
    rows += fmt::format("{:.6g} {}\n", time, now);
    before = now;
  }
  return rows;
}

} // namespace

Drawing jct_cdf_chart(const Comparison &comparison, const std::vector<std::string> &policies) {
  Drawing drawing;
  drawing.title = fmt::format("Distribution of JCT by policy, {}", page_text(title_of(comparison), 80));
  drawing.description =
      "Part of the jobs that took at most so long, all workloads together; time on a logarithmic axis";
  draw_curves(drawing, curves(drawing, comparison, policies, [](const JobResult &job) { return job.jct(); }),
              "set xlabel 'JCT' textcolor rgb '#333333'\n"
              "set xtics scale 0 ('1 s' 1, '10 s' 10, '1 min' 60, '10 min' 600, '1 h' 3600, '4 h' 14400, '1 day' 86400,"
              " '4 days' 345600, '16 days' 1382400)\n");
  return drawing;
}

Drawing slowdown_cdf_chart(const Comparison &comparison, const std::vector<std::string> &policies) {
  Drawing drawing;
  drawing.title = fmt::format("Distribution of slowdown by policy, {}", page_text(title_of(comparison), 80));
  drawing.description = "Part of the jobs that were slowed down at most so much, all workloads together";
  draw_curves(drawing, curves(drawing, comparison, policies, [](const JobResult &job) { return job.slowdown(); }),
              "set xlabel 'slowdown' textcolor rgb '#333333'\n"
              "set xtics scale 0 (0.5, '1' 1, '1.5' 1.5, '2' 2, '3' 3, '5' 5, '10' 10, '20' 20,"
              " '50' 50, '100' 100)\n");
  return drawing;
}

Drawing usage_chart(const Comparison &comparison, const std::vector<std::string> &policies, std::size_t policy) {
  Drawing drawing;
  drawing.width = 330;
  drawing.height = 185;
  const PolicySummary &summary = comparison.summaries[policy];
  drawing.title = fmt::format("GPUs allocated and useful over time, {}", page_text(summary.policy, longest_label));
  drawing.description = fmt::format("{} of the GPUs allocated and {} useful on average",
                                    percent(summary.gpus_allocated.mean), percent(summary.gpus_useful.mean));
  const Extent extent = extent_of(comparison);
  const TimeUnit unit = time_unit(extent.end_s);
  std::string rows;
  if (policy < comparison.results.size() && !comparison.results[policy].empty())
    rows = usage_rows(comparison.results[policy].front().usage, unit.seconds);
  if (rows.empty()) {
    drawing.commands = nothing("not recorded");
    return drawing;
  }
  drawing.commands = plain_chart;
  drawing.commands += fmt::format(
      "set lmargin at screen 0.13\nset rmargin at screen 0.85\nset tmargin at screen 0.96\nset bmargin at screen 0.28\n"
      "set xrange [0:{:.6g}]\nset yrange [0:{}]\nset y2range [0:{:.6g}]\nset ytics scale 0\nset y2tics scale 0\n"
      "set xtics scale 0\nset xlabel 'time ({})' offset 0, 0.4 textcolor rgb '#333333'\nset grid noy2tics\n"
      "$rows << EOD\n{}EOD\n"
      "plot $rows using 1:2 with filledcurves y1=0 linecolor rgb '#cdd5de',"
      " '' using 1:3 with filledcurves y1=0 linecolor rgb '{}',"
      " '' using 1:4 axes x1y2 with lines linecolor rgb '#111111' linewidth 1.3\n",
      extent.end_s / unit.seconds, std::max(comparison.gpus, 1), 1.05 * extent.pending, unit.name, rows,
      policy_style(index_of(policies, summary.policy)).colour);
  return drawing;
}

} // namespace harmony
