#include "tests/emulator/live_comparison.h"

#include "src/sim/result_text.h"

#include <fmt/format.h>
#include <json/json.h>

#include <algorithm>
#include <cmath>

namespace harmony {
namespace {

constexpr std::size_t stock = 0, ours = 1;

struct Figure {
  const char *heading;
  const char *key; // in the JSON
  Mean PolicySummary::*mean;
  bool time; // else a part of all GPUs
};
constexpr Figure figures[] = {{"mean JCT", "mean_jct", &PolicySummary::mean_jct, true},
                              {"p95 JCT", "p95_jct", &PolicySummary::p95_jct, true},
                              {"waiting", "waiting", &PolicySummary::waiting, true},
                              {"running", "running", &PolicySummary::running, true},
                              {"makespan", "makespan", &PolicySummary::makespan, true},
                              {"allocated", "gpus_allocated", &PolicySummary::gpus_allocated, false},
                              {"useful", "gpus_useful", &PolicySummary::gpus_useful, false}};

double value(const Comparison &comparison, std::size_t policy, const Figure &figure) {
  return (comparison.summaries[policy].*figure.mean).mean;
}

std::string row(const std::string &name, const Comparison &comparison, std::size_t policy) {
  std::string text = fmt::format("{:<28}", name);
  for (const Figure &figure : figures) {
    const double is = value(comparison, policy, figure);
    text += fmt::format("{:>10}", figure.time ? fmt::format("{:.0f} s", is) : fmt::format("{:.0f} %", 100 * is));
  }
  return text + "\n";
}

double ratio(const Comparison &comparison, const Figure &figure) {
  const double of_stock = value(comparison, stock, figure);
  return of_stock > 0 ? value(comparison, ours, figure) / of_stock : std::nan("");
}

std::string ratio_row(const Comparison &comparison) {
  std::string text = fmt::format("{:<28}", "  ours / stock");
  for (const Figure &figure : figures) {
    const double is = ratio(comparison, figure);
    text += fmt::format("{:>10}", std::isfinite(is) ? fmt::format("{:.2f}", is) : "-");
  }
  return text + "\n";
}

std::string rows(const Comparison &comparison, const char *how) {
  std::string text;
  for (const std::size_t policy : {stock, ours})
    text += row(fmt::format("{} ({})", comparison.summaries[policy].policy, how), comparison, policy);
  return text + ratio_row(comparison);
}

std::string heading() {
  std::string text(28, ' ');
  for (const Figure &figure : figures) text += fmt::format("{:>10}", figure.heading);
  return text + "\n";
}

std::string error_text(const char *what, const Mean &simulated, const Mean &live) {
  return fmt::format("{} simulated {:.0f} s, live {:.0f} s: {:.1f} % off", what, simulated.mean, live.mean,
                     100 * prediction_error(simulated, live));
}

std::string prediction_text(const LiveComparison &both) {
  std::string text;
  for (const std::size_t policy : {stock, ours}) {
    const PolicySummary &live = both.live.summaries[policy], &simulated = both.simulated.summaries[policy];
    text += fmt::format("  {}: {}; {}\n", live.policy, error_text("mean JCT", simulated.mean_jct, live.mean_jct),
                        error_text("mean time running", simulated.running, live.running));
  }
  const double worst = worst_error(both);
  return text + fmt::format("  within {:.0f} %: {} (the worse mean JCT is {:.1f} % off)\n", 100 * allowed_error,
                            worst <= allowed_error ? "yes" : "NO", 100 * worst);
}

std::string times_text(const char *name, const SlurmTimes &times, double speedup) {
  return fmt::format(
      "{} {:.2f} s from sbatch to the whole gang on an empty cluster, {:.2f} s from one gang's end to the "
      "next one's start (on the clock of the jobs {:.0f} s and {:.0f} s)",
      name, times.launch_s, times.turn_around_s, times.launch_s * speedup, times.turn_around_s * speedup);
}

} // namespace

double prediction_error(const Mean &simulated, const Mean &live) {
  return live.mean > 0 ? std::abs(simulated.mean - live.mean) / live.mean : simulated.mean > 0 ? 1 : 0;
}

double worst_error(const LiveComparison &both) {
  double worst = 0;
  for (const std::size_t policy : {stock, ours})
    worst = std::max(worst,
                     prediction_error(both.simulated.summaries[policy].mean_jct, both.live.summaries[policy].mean_jct));
  return worst;
}

std::string live_comparison_text(const LiveComparison &both) {
  std::string text =
      fmt::format("{} nodes, {} GPUs, {} jobs, load {:.2f}, seed {}; the jobs' clock runs {:g} times as fast as a real "
                  "one, and all times below are the jobs'\n\n",
                  both.live.nodes, both.live.gpus, both.live.jobs, both.live.load, both.seed, both.speedup);
  text += heading() + rows(both.live, "live") + rows(both.simulated, "simulated");
  text += "\nThe simulator against the live runs:\n" + prediction_text(both);
  text += "Slurm's own time, in real seconds, is part of the live runs and was given to the simulator:\n  " +
          times_text("stock", both.stock_times, both.speedup) + "\n  " +
          times_text("ours", both.ours_times, both.speedup) + "\n";
  return text;
}

std::string live_comparison_brief(const LiveComparison &both) {
  std::string text = fmt::format("{:<28}{:>10}{:>10}{:>10}{:>10}\n", "", "mean JCT", "waiting", "running", "useful");
  for (const std::size_t policy : {stock, ours}) {
    const PolicySummary &is = both.live.summaries[policy];
    text += fmt::format("{:<28}{:>8.0f} s{:>8.0f} s{:>8.0f} s{:>8.0f} %\n",
                        policy == stock ? std::string("stock") : fmt::format("ours ({})", is.policy), is.mean_jct.mean,
                        is.waiting.mean, is.running.mean, 100 * is.gpus_useful.mean);
  }
  const double jct = ratio(both.live, figures[0]);
  text += fmt::format("ours / stock: {:.2f}. ", jct);
  text +=
      fmt::format("Both ran {} emulated jobs on a real slurmctld; the slowing down is the contention model's, and so "
                  "few jobs are no measurement: contrib/compare is the longer one.\n",
                  both.live.jobs);
  return text;
}

std::string live_comparison_json(const LiveComparison &both) {
  Json::Value json(Json::objectValue);
  json["jobs"] = Json::UInt64(both.live.jobs);
  json["nodes"] = both.live.nodes;
  json["gpus"] = both.live.gpus;
  json["load"] = both.live.load;
  json["seed"] = Json::UInt64(both.seed);
  json["speedup"] = both.speedup;
  const std::pair<const char *, const Comparison *> kinds[] = {{"live", &both.live}, {"simulated", &both.simulated}};
  for (const auto &[name, comparison] : kinds)
    for (const Figure &figure : figures) {
      const std::string key = figure.time ? fmt::format("{}_s", figure.key) : figure.key;
      json[name]["stock"][key] = value(*comparison, stock, figure);
      json[name]["ours"][key] = value(*comparison, ours, figure);
      if (const double is = ratio(*comparison, figure); std::isfinite(is)) json[name]["ratio"][figure.key] = is;
    }
  json["live"]["ours"]["policy"] = both.live.summaries[ours].policy;
  for (const std::size_t policy : {stock, ours}) {
    const PolicySummary &live = both.live.summaries[policy], &simulated = both.simulated.summaries[policy];
    Json::Value &error = json["prediction"][policy == stock ? "stock" : "ours"];
    error["mean_jct_error"] = prediction_error(simulated.mean_jct, live.mean_jct);
    error["running_error"] = prediction_error(simulated.running, live.running);
    const SlurmTimes &times = policy == stock ? both.stock_times : both.ours_times;
    json["slurm"][policy == stock ? "stock" : "ours"]["launch_s"] = times.launch_s;
    json["slurm"][policy == stock ? "stock" : "ours"]["turn_around_s"] = times.turn_around_s;
  }
  json["prediction"]["within"] = worst_error(both) <= allowed_error;
  json["prediction"]["allowed"] = allowed_error;
  Json::StreamWriterBuilder builder;
  builder["indentation"] = "  ";
  return Json::writeString(builder, json) + "\n";
}

} // namespace harmony
