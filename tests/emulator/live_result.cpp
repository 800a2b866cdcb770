#include "tests/emulator/live_result.h"

#include "src/sim/input/line_reader.h"
#include "src/sim/progress.h"
#include "src/sim/timeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <sstream>
#include <stdexcept>

namespace harmony {
namespace {

constexpr std::size_t moments = 300, frames = 40;

class Replay {
public:
  Replay(EmulatedCluster &cluster, const Workload &workload, const std::map<std::uint32_t, double> &submissions,
         double speedup)
      : cluster_(cluster), speedup_(speedup), truth_(cluster.rules->empty()), progress_(*truth_) {
    for (const SimJob &job : workload.jobs) {
      const auto at = submissions.find(job.id);
      if (at == submissions.end()) throw std::runtime_error(fmt::format("job {} was never submitted", job.id));
      jobs_.push_back({job, at->second, {}, {}, false, false});
    }
    std::sort(jobs_.begin(), jobs_.end(), [](const Job &a, const Job &b) { return a.submitted < b.submitted; });
    for (std::size_t i = 0; i < jobs_.size(); ++i) by_id_[jobs_[i].job.id] = static_cast<int>(i);
  }

  SimResult run(const std::vector<GangEvent> &events) {
    const double span = std::max(1.0, time_of(jobs_.back().submitted));
    Timeline<Usage> usage(moments, span / moments);
    Timeline<MapFrame> map(frames, span / frames);
    for (const GangEvent &event : events) {
      pass_time(time_of(event.at_s), time_of(jobs_.back().submitted));
      take(event);
      if (usage.due(now_)) usage.add(this->usage());
      if (map.due(now_)) map.add(frame());
    }
    for (const Job &job : jobs_)
      if (!job.ended) throw std::runtime_error(fmt::format("job {} did not run to its end", job.job.id));
    result_.usage = usage.take();
    result_.map = map.take();
    result_.makespan_s = now_;
    const double whole = span * cluster_.scenario.cluster.gpus();
    result_.gpus_allocated = allocated_ / whole;
    result_.gpus_useful = useful_ / whole;
    result_.gpus_stranded = stranded_ / whole;
    return std::move(result_);
  }

private:
  struct Job {
    SimJob job;
    double submitted = 0;
    Occupant where;
    JobResult result;
    bool runs = false, ended = false;
  };

  double time_of(double real_s) const { return (real_s - jobs_.front().submitted) * speedup_; }

  void pass_time(double next, double counted_until) {
    const double passed = std::max(0.0, std::min(next, counted_until) - now_);
    const Usage now = usage();
    allocated_ += passed * now.gpus_allocated;
    useful_ += passed * now.gpus_useful;
    stranded_ += passed * now.gpus_stranded;
    now_ = std::max(now_, next);
  }

  void take(const GangEvent &event) {
    const auto at = by_id_.find(event.job);
    if (at == by_id_.end()) throw std::runtime_error(fmt::format("job {} is not of the workload", event.job));
    Job &job = jobs_[static_cast<std::size_t>(at->second)];
    if (event.moment == GangMoment::lost)
      throw std::runtime_error(fmt::format("job {} (Slurm's {}) lost a task", event.job, event.slurm_job));
    if (job.ended || job.runs != (event.moment == GangMoment::end))
      throw std::runtime_error(fmt::format("job {} starts or ends twice", event.job));
    if (event.moment == GangMoment::start)
      start(job, at->second, event.where);
    else
      end(job, at->second);
  }

  void start(Job &job, int key, const Occupant &where) {
    job.runs = true;
    job.where = where;
    const double best = cluster_.best.speed(job.job), epochs = cluster_.best.epochs(job.job);
    JobResult &result = job.result;
    result.job = job.job.id;
    result.type = job.job.type;
    result.workers = job.job.workers;
    result.ps = job.job.ps;
    result.gpus = job.job.gpus();
    result.submit_s = time_of(job.submitted);
    result.start_s = now_;
    result.best_s = epochs / best;
    result.place_s = epochs / cluster_.rules->alone(where);
    result.nodes = static_cast<int>(where.where.size());
    for (const Job &other : jobs_) result.backfilled |= other.submitted < job.submitted && !other.runs && !other.ended;
    progress_.start(key, where, {epochs, best, 1, job.job.gpus()}, now_);
  }

  void end(Job &job, int key) {
    progress_.end(key, now_);
    // The world's clock and its loop are good for some milliseconds, real ones.
    if (const double off = std::abs(progress_.done(key) - cluster_.best.epochs(job.job)) / progress_.speed(key);
        off > 0.2 * speedup_)
      throw std::runtime_error(
          fmt::format("job {} ended {:.1f} s from when the truth says it does", job.job.id, off / speedup_));
    job.runs = false;
    job.ended = true;
    job.result.end_s = now_;
    result_.jobs.push_back(job.result);
  }

  Usage usage() const {
    Usage usage;
    usage.at_s = now_;
    usage.gpus_useful = progress_.gpus_useful();
    std::map<int, int> held; // by node
    for (const Job &job : jobs_) {
      if (!job.runs && !job.ended && time_of(job.submitted) <= now_) ++usage.pending;
      if (!job.runs) continue;
      for (const TasksOn &tasks : job.where.where) {
        held[tasks.node] += tasks.gpus.count();
        usage.gpus_allocated += tasks.gpus.count();
      }
    }
    for (const auto &[node, gpus] : held)
      usage.gpus_stranded += cluster_.scenario.cluster.nodes[static_cast<std::size_t>(node)].free_gpus.count() - gpus;
    return usage;
  }

  MapFrame frame() const {
    MapFrame made;
    made.at_s = now_;
    for (std::size_t key = 0; key < jobs_.size(); ++key) {
      if (!jobs_[key].runs) continue;
      const double slowdown = progress_.slowdown(static_cast<int>(key));
      for (const TasksOn &tasks : jobs_[key].where.where) {
        const Topology &topology = *cluster_.scenario.cluster.nodes[static_cast<std::size_t>(tasks.node)].topology;
        std::map<int, int> by_domain;
        for (const int gpu : each(tasks.gpus)) ++by_domain[topology.gpus[static_cast<std::size_t>(gpu)].domain];
        for (const auto &[domain, gpus] : by_domain)
          made.cells.push_back({tasks.node, domain, jobs_[key].job.id, gpus, 0, slowdown});
        if (tasks.ps > 0) made.cells.push_back({tasks.node, -1, jobs_[key].job.id, 0, tasks.ps, slowdown});
      }
    }
    return made;
  }

  EmulatedCluster &cluster_;
  const double speedup_;
  std::unique_ptr<Truth> truth_;
  Progress progress_;
  std::vector<Job> jobs_; // by submission; their index is their key
  std::map<std::uint32_t, int> by_id_;
  double now_ = 0, allocated_ = 0, useful_ = 0, stranded_ = 0;
  SimResult result_;
};

} // namespace

std::map<std::uint32_t, double> read_submissions(const std::string &path) {
  std::map<std::uint32_t, double> found;
  LineReader lines(path);
  while (lines.next()) {
    std::istringstream words(lines.text());
    std::string job, at;
    words >> job >> at;
    const auto id = whole_in(job, 0, 1 << 30);
    const auto seconds = number_in(at, 1e9, 1e11);
    if (!id || !seconds || !found.emplace(static_cast<std::uint32_t>(*id), *seconds).second)
      throw std::runtime_error(
          fmt::format("{}:{}: not a job's number and its submission, once each", path, lines.number()));
  }
  return found;
}

SimResult live_result(EmulatedCluster &cluster, const Workload &workload,
                      const std::map<std::uint32_t, double> &submissions, const std::vector<GangEvent> &events,
                      double speedup) {
  if (workload.jobs.empty()) throw std::runtime_error("the workload has no jobs");
  return Replay(cluster, workload, submissions, speedup).run(events);
}

SlurmTimes slurm_times(const std::map<std::uint32_t, double> &submissions, const std::vector<GangEvent> &events) {
  SlurmTimes times;
  double ended_s = 0;
  int alone = 0, followed = 0;
  for (const GangEvent &event : events) {
    const auto submitted = submissions.find(event.job);
    if (event.moment == GangMoment::end) ended_s = event.at_s;
    if (event.moment != GangMoment::start || submitted == submissions.end()) continue;
    if (submitted->second >= ended_s && ended_s > 0) {
      times.launch_s += event.at_s - submitted->second;
      ++alone;
    } else if (ended_s > 0) {
      times.turn_around_s += event.at_s - ended_s;
      ++followed;
    }
  }
  if (alone == 0 || followed == 0)
    throw std::runtime_error("the probe did not run, so Slurm's own times are not known");
  times.launch_s /= alone;
  times.turn_around_s /= followed;
  return times;
}

} // namespace harmony
