#include "src/sim/metrics.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>

namespace harmony {
namespace {

// Student's t for a two-sided 95 % interval, by degrees of freedom from 1 on.
constexpr std::array<double, 30> student{12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
                                         2.201,  2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086,
                                         2.080,  2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042};

// Beyond the table by the first terms of its expansion around the normal distribution's 1.96.
double t_of(std::size_t freedom) {
  return freedom <= student.size() ? student[freedom - 1] : 1.96 + 2.372 / static_cast<double>(freedom);
}

double average(const std::vector<double> &values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return values.empty() ? 0 : sum / static_cast<double>(values.size());
}

std::vector<double> of_jobs(const SimResult &result, const std::function<double(const JobResult &)> &figure) {
  std::vector<double> values;
  values.reserve(result.jobs.size());
  for (const JobResult &job : result.jobs) values.push_back(figure(job));
  return values;
}

double mean_jct(const SimResult &result) {
  return average(of_jobs(result, [](const JobResult &job) { return job.jct(); }));
}

// How many jobs there are, as steps in time, and the area below them.
class Crowd {
public:
  explicit Crowd(const SimResult &result) {
    std::vector<std::pair<double, int>> changes;
    for (const JobResult &job : result.jobs) {
      changes.push_back({job.submit_s, 1});
      changes.push_back({job.end_s, -1});
    }
    std::sort(changes.begin(), changes.end());
    int jobs = 0;
    double area = 0, before = changes.empty() ? 0 : changes.front().first;
    for (const auto &[at, change] : changes) {
      area += jobs * (at - before);
      jobs += change;
      before = at;
      steps_.push_back({at, area, jobs});
    }
  }

  double mean(double from, double to) const { return to > from ? (area(to) - area(from)) / (to - from) : 1; }

private:
  struct Step {
    double at = 0, area = 0;
    int jobs = 0;
  };
  double area(double at) const {
    const auto after = std::upper_bound(steps_.begin(), steps_.end(), at,
                                        [](double time, const Step &step) { return time < step.at; });
    if (after == steps_.begin()) return 0;
    const Step &step = *(after - 1);
    return step.area + step.jobs * (at - step.at);
  }
  std::vector<Step> steps_;
};

void summarise_jobs(const std::vector<SimResult> &results, int gpus, PolicySummary &summary) {
  const auto over_seeds = [&](const std::function<double(const SimResult &)> &figure) {
    std::vector<double> values;
    for (const SimResult &result : results) values.push_back(figure(result));
    return mean_of(values);
  };
  const auto jct = [](const JobResult &job) { return job.jct(); };
  const auto quantile_of_jct = [&](double part) {
    return over_seeds([&](const SimResult &result) { return quantile(of_jobs(result, jct), part); });
  };
  const auto job_mean = [&](const std::function<double(const JobResult &)> &figure) {
    return over_seeds([&](const SimResult &result) { return average(of_jobs(result, figure)); });
  };
  summary.mean_jct = job_mean(jct);
  summary.median_jct = quantile_of_jct(0.5);
  summary.p95_jct = quantile_of_jct(0.95);
  summary.p99_jct = quantile_of_jct(0.99);
  summary.waiting = job_mean([](const JobResult &job) { return job.waited(); });
  summary.running = job_mean([](const JobResult &job) { return job.ran(); });
  summary.slowdown = job_mean([](const JobResult &job) { return job.slowdown(); });
  summary.makespan = over_seeds([](const SimResult &result) { return result.makespan_s; });
  summary.gpus_allocated = over_seeds([](const SimResult &result) { return result.gpus_allocated; });
  summary.gpus_useful = over_seeds([](const SimResult &result) { return result.gpus_useful; });
  summary.gpus_stranded = over_seeds([](const SimResult &result) { return result.gpus_stranded; });
  summary.fairness_mean = over_seeds([&](const SimResult &result) { return average(fairness(result, gpus)); });
  summary.fairness_max = over_seeds([&](const SimResult &result) { return quantile(fairness(result, gpus), 1); });
}

// By policy, then by seed.
std::vector<std::vector<double>> all_mean_jcts(const Comparison &comparison) {
  std::vector<std::vector<double>> all;
  for (const std::vector<SimResult> &results : comparison.results) {
    all.emplace_back();
    for (const SimResult &result : results) all.back().push_back(mean_jct(result));
  }
  return all;
}

// The baseline with the least mean over all seeds, but for one of the policies; -1 if there is no other.
int best_baseline(const Comparison &comparison, const std::vector<std::vector<double>> &jcts, std::size_t without) {
  int best = -1;
  for (std::size_t i = 0; i < jcts.size(); ++i)
    if (i != without && is_baseline(comparison.summaries[i].policy) &&
        (best < 0 || average(jcts[i]) < average(jcts[static_cast<std::size_t>(best)])))
      best = static_cast<int>(i);
  return best;
}

// Sums, not a mean of ratios: a seed with hardly any gap would outweigh all others.
Mean ratio_of_sums(const std::vector<double> &parts, const std::vector<double> &wholes) {
  const double whole = average(wholes);
  Mean made;
  made.mean = average(parts) / whole;
  std::vector<double> residuals;
  for (std::size_t i = 0; i < parts.size(); ++i) residuals.push_back(parts[i] - made.mean * wholes[i]);
  made.half = mean_of(residuals).half / whole;
  return made;
}

void compare(Comparison &comparison) {
  constexpr double worth_telling = 0.01; // a gap below this part of the best mean JCT is none
  const std::vector<std::vector<double>> jcts = all_mean_jcts(comparison);
  const auto bound = std::find_if(comparison.summaries.begin(), comparison.summaries.end(),
                                  [](const PolicySummary &each) { return each.policy == "no-interference"; });
  for (std::size_t i = 0; i < jcts.size(); ++i) {
    PolicySummary &summary = comparison.summaries[i];
    const int best = best_baseline(comparison, jcts, i);
    if (best < 0) continue;
    const std::vector<double> &of_best = jcts[static_cast<std::size_t>(best)];
    summary.best_baseline = comparison.summaries[static_cast<std::size_t>(best)].policy;
    std::vector<double> ratios, gained, gaps;
    for (std::size_t seed = 0; seed < of_best.size(); ++seed) {
      ratios.push_back(jcts[i][seed] / of_best[seed]);
      gained.push_back(of_best[seed] - jcts[i][seed]);
      if (bound != comparison.summaries.end())
        gaps.push_back(of_best[seed] - jcts[static_cast<std::size_t>(bound - comparison.summaries.begin())][seed]);
    }
    summary.against_best = mean_of(ratios);
    summary.knows_gap = !gaps.empty() && average(gaps) > worth_telling * average(of_best);
    if (summary.knows_gap) summary.gap_closed = ratio_of_sums(gained, gaps);
  }
}

} // namespace

bool is_baseline(const std::string &policy) {
  return policy.rfind("oracle", 0) != 0 && policy != "no-interference" && policy.rfind("learned", 0) != 0;
}

double quantile(std::vector<double> values, double part) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const double at = part * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::size_t>(at);
  if (below + 1 >= values.size()) return values.back();
  return values[below] + (at - static_cast<double>(below)) * (values[below + 1] - values[below]);
}

Mean mean_of(const std::vector<double> &values) {
  Mean made;
  made.mean = average(values);
  if (values.size() < 2) return made;
  double squares = 0;
  for (const double value : values) squares += (value - made.mean) * (value - made.mean);
  const auto count = static_cast<double>(values.size());
  made.half = t_of(values.size() - 1) * std::sqrt(squares / (count - 1) / count);
  return made;
}

std::vector<double> fairness(const SimResult &result, int cluster_gpus) {
  const Crowd crowd(result);
  return of_jobs(result, [&](const JobResult &job) {
    const double share = cluster_gpus / std::max(1.0, crowd.mean(job.submit_s, job.end_s));
    const double by_itself = job.best_s * std::max(1.0, job.gpus / std::max(1e-9, share));
    return by_itself > 0 ? job.jct() / by_itself : 1;
  });
}

void summarise(Comparison &comparison) {
  comparison.summaries.clear();
  for (const std::vector<SimResult> &results : comparison.results) {
    PolicySummary summary;
    summary.policy = results.empty() ? std::string() : results.front().policy;
    summary.workloads = static_cast<int>(results.size());
    summarise_jobs(results, comparison.gpus, summary);
    comparison.summaries.push_back(std::move(summary));
  }
  compare(comparison);
}

} // namespace harmony
