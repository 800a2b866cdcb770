// Comparisons as a simulation might find them, for the tests of the report: made up, and the same every time.
#pragma once

#include "src/sim/metrics.h"
#include "src/sim/random.h"
#include "src/sim/result.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

namespace harmony {
namespace fixtures {

struct ReportSize {
  int policies = 8;
  int seeds = 8;
  int jobs = 600;
  int nodes = 16;
  int domains = 4; // of a node, with two GPUs each
  int frames = 30;
};

// How a policy fares: what it multiplies waiting and running with. 1 is the best that there is.
struct Fares {
  const char *policy;
  double waiting, running;
};

inline const std::vector<Fares> &fares() {
  static const std::vector<Fares> all = {
      {"learned", 1.1, 1.12},      {"cons1", 1.25, 1.1},      {"one-distributed", 1.2, 1.2},
      {"pack", 1.7, 1.35},         {"spread", 3.2, 1.6},      {"tetris", 2.4, 1.4},
      {"lif", 1.9, 1.3},           {"no-interference", 1, 1}, {"tiresias-skew", 1.8, 1.3},
      {"optimus-even", 2.2, 1.45}, {"stock", 2.1, 1.5},       {"random", 2.9, 1.7},
  };
  return all;
}

inline std::vector<JobResult> ended_jobs(const Fares &how, const ReportSize &size, std::uint64_t seed) {
  static const char *const types[] = {"vgg16", "resnet50", "bert", "gpt2", "dlrm", "mobilenet"};
  Random random(seed, "jobs"), luck(seed, how.policy);
  std::vector<JobResult> jobs;
  double now = 0;
  for (int i = 0; i < size.jobs; ++i) {
    JobResult job;
    job.job = static_cast<std::uint32_t>(i + 1);
    job.type = types[random.below(6)];
    job.workers = job.gpus = 1 << random.below(4);
    job.ps = random.below(3) == 0 ? 2 : 0;
    job.submit_s = now += random.exponential(150);
    job.best_s = std::exp(6.5 + 1.3 * random.normal());
    job.place_s = job.best_s * (1 + 0.3 * (how.running - 1));
    job.start_s = job.submit_s + how.waiting * random.exponential(900) * (0.8 + 0.4 * luck.unit());
    job.end_s = job.start_s + job.place_s * (1 + (how.running - 1) * 1.4 * luck.unit());
    job.nodes = std::max(1, job.gpus / 4);
    jobs.push_back(job);
  }
  std::stable_sort(jobs.begin(), jobs.end(), [](const JobResult &a, const JobResult &b) { return a.end_s < b.end_s; });
  return jobs;
}

inline MapFrame map_frame(const Fares &how, const ReportSize &size, double at_s, const std::vector<JobResult> &jobs) {
  Random random(static_cast<std::uint64_t>(at_s), how.policy);
  MapFrame frame;
  frame.at_s = at_s;
  std::size_t next = static_cast<std::size_t>(at_s / 200) % jobs.size();
  int left = 0;
  double slowdown = 1;
  for (int node = 0; node < size.nodes; ++node)
    for (int domain = 0; domain < size.domains; ++domain)
      for (int free = 2; free > 0 && random.below(8) > 0;) {
        if (left == 0) {
          next = (next + 1) % jobs.size();
          left = jobs[next].gpus;
          slowdown = 1 + std::max(0.0, random.exponential(how.running - 1) * 1.5 - 0.05);
          if (jobs[next].ps > 0) frame.cells.push_back({node, -1, jobs[next].job, 0, jobs[next].ps, slowdown});
        }
        const int gpus = std::min(free, left);
        frame.cells.push_back({node, domain, jobs[next].job, gpus, 0, slowdown});
        left -= gpus;
        free -= gpus;
      }
  return frame;
}

inline void add_usage(SimResult &result, const Fares &how, const ReportSize &size) {
  constexpr int moments = 300;
  const int gpus = size.nodes * size.domains * 2;
  Random random(result.seed, how.policy, 7);
  double busy = 0.5;
  for (int i = 0; i <= moments; ++i) {
    busy = std::clamp(busy + 0.08 * random.normal(), 0.2, 1.0) * (i > 0.9 * moments ? 0.9 : 1);
    Usage usage;
    usage.at_s = result.makespan_s * i / moments;
    usage.gpus_allocated = static_cast<int>(gpus * busy);
    usage.gpus_useful = usage.gpus_allocated / how.running;
    usage.pending = static_cast<int>(12 * how.waiting * busy * busy);
    result.usage.push_back(usage);
  }
}

inline SimResult sim_result(const Fares &how, const ReportSize &size, std::uint64_t seed) {
  SimResult result;
  result.policy = how.policy;
  result.seed = seed;
  result.jobs = ended_jobs(how, size, seed);
  result.makespan_s = result.jobs.empty() ? 0 : result.jobs.back().end_s;
  result.gpus_allocated = 0.8;
  result.gpus_useful = 0.8 / how.running;
  result.gpus_stranded = 0.05 * how.waiting;
  add_usage(result, how, size);
  for (int i = 0; seed == 1 && i < size.frames && !result.jobs.empty(); ++i)
    result.map.push_back(map_frame(how, size, std::floor(result.makespan_s * (i + 0.5) / size.frames), result.jobs));
  return result;
}

inline Comparison comparison(const std::string &scenario, double load, const ReportSize &size) {
  Comparison made;
  made.scenario = scenario;
  made.truth = "mechanistic";
  made.order = "submit time";
  made.load = load;
  made.nodes = size.nodes;
  made.gpus = size.nodes * size.domains * 2;
  made.jobs = static_cast<std::size_t>(size.jobs);
  made.command =
      fmt::format("harmony sim --scenario {} --load {} --seeds {} --report report.html", scenario, load, size.seeds);
  for (int node = 0; node < size.nodes; ++node) {
    made.node_names.push_back(fmt::format("n{}", node));
    made.node_shapes.emplace_back();
    for (int domain = 0; domain < size.domains; ++domain) made.node_shapes.back().emplace_back(domain, 2);
  }
  for (int i = 0; i < size.policies && i < static_cast<int>(fares().size()); ++i) {
    Fares how = fares()[static_cast<std::size_t>(i)];
    how.waiting *= load / 0.7; // as if a scenario were harder
    std::vector<SimResult> results;
    for (int seed = 1; seed <= size.seeds; ++seed)
      results.push_back(sim_result(how, size, static_cast<std::uint64_t>(seed)));
    made.results.push_back(results);
  }
  summarise(made);
  return made;
}

// The same with names that would like to be markup, scripts or commands. `trap` is a file that they try to make.
inline Comparison hostile_comparison(const std::string &trap) {
  ReportSize size;
  size.policies = 6;
  size.seeds = 2;
  size.jobs = 40;
  size.nodes = 4;
  size.frames = 4;
  Comparison made = comparison("</title><script>window.hacked=1</script>", 0.7, size);
  const std::vector<std::string> names = {"</script><script>window.hacked=2</script>",
                                          "<img src=x onerror=window.hacked=3>",
                                          fmt::format("'; system(\"touch {}\") #", trap),
                                          fmt::format("`touch {}`", trap),
                                          "[[0]]@x\\\n\"' EOD\nset output",
                                          "=cmd|'/c calc'!A1 \xff\xfe \xe2\x80\xa8 " + std::string(3000, 'x')};
  for (std::size_t i = 0; i < names.size(); ++i) {
    made.summaries[i].policy = names[i];
    for (SimResult &result : made.results[i]) {
      result.policy = names[i];
      for (JobResult &job : result.jobs) job.type = names[(i + job.job) % names.size()];
    }
  }
  for (std::size_t i = 0; i < made.node_names.size(); ++i) made.node_names[i] = names[i];
  made.truth = names[0];
  made.order = names[1];
  made.command = names[1] + names[2] + names[0];
  return made;
}

} // namespace fixtures
} // namespace harmony
