#include "src/sim/simulate.h"

#include "src/plan/backfill.h"
#include "src/sim/stock/cons_tres.h"
#include "src/sim/floor.h"
#include "src/sim/queue.h"
#include "src/sim/random.h"
#include "src/sim/sim_gang.h"
#include "src/sim/timeline.h"
#include "src/sim/truth/undisturbed.h"
#include "src/values/clock.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>
#include <optional>
#include <stdexcept>

namespace harmony {
namespace {

constexpr double never = std::numeric_limits<double>::infinity();

double noise_factor(const Noise &noise, const SimJob &job, double epochs, std::uint64_t seed) {
  if (noise.worker == 0 && noise.epoch == 0) return 1;
  Random random(seed, "noise", job.id);
  double slowest = never;
  for (int i = 0; i < job.workers; ++i) slowest = std::min(slowest, std::exp(noise.worker * random.normal()));
  return slowest * std::exp(noise.epoch * random.normal() / std::sqrt(std::max(1.0, epochs)));
}

class Simulation {
public:
  Simulation(const SimInput &input, const PlanRound &plan, const SimOptions &options, SimWatcher *watcher)
      : input_(input), jobs_(input.workload.jobs), plan_(plan), options_(options), watcher_(watcher),
        truth_(options.undisturbed ? std::make_unique<Undisturbed>() : input.truth.empty()), progress_(*truth_),
        floor_(input.cluster), queue_(floor_.snapshot().pending, options.order),
        usage_(options.usage_moments, span() / static_cast<double>(std::max<std::size_t>(1, options.usage_moments))),
        map_(options.map_frames, span() / static_cast<double>(std::max<std::size_t>(1, options.map_frames))) {}

  SimResult run() {
    while (next_job_ < jobs_.size() || queue_.size() > 0 || progress_.any() || !launching_.empty()) {
      const double next = std::min({next_arrival(), next_end(), next_of(launching_), next_of(releasing_), round_at_});
      if (next == never) throw std::runtime_error(fmt::format("job {} never starts", queue_.gang(0).job));
      pass_time(next);
      while (next_end() <= now_) end_job(progress_.next_end().second);
      for (; next_of(releasing_) <= now_; releasing_.pop_front()) release(releasing_.front().key);
      for (; next_of(launching_) <= now_; launching_.pop_front()) begin(launching_.front().key);
      while (next_arrival() <= now_) arrive();
      if (round_at_ <= now_) round();
      watch();
    }
    return finish();
  }

private:
  struct Active {
    std::size_t job = 0; // index into the workload
    JobResult result;
    Gang gang;
    Plan plan;
    bool works = false; // from its launch to its end
  };
  struct Due { // in the order of time, since each delay is the same for all
    double at = 0;
    int key = 0;
  };

  static double next_of(const std::deque<Due> &dues) { return dues.empty() ? never : dues.front().at; }

  double span() const { return jobs_.empty() ? 1 : std::max(1.0, jobs_.back().submit_s - jobs_.front().submit_s); }
  double counted_until() const {
    return jobs_.back().submit_s > jobs_.front().submit_s ? jobs_.back().submit_s : never;
  }
  double next_arrival() const { return next_job_ < jobs_.size() ? jobs_[next_job_].submit_s : never; }
  double next_end() const { return progress_.any() ? progress_.next_end().first : never; }

  void pass_time(double next) {
    // Until the last arrival: how long a few last jobs empty the cluster says nothing about how it was used.
    const double passed = std::max(0.0, std::min(next, counted_until()) - now_);
    allocated_ += passed * floor_.gpus_allocated();
    useful_ += passed * progress_.gpus_useful();
    stranded_ += passed * floor_.gpus_stranded();
    now_ = next;
    floor_.snapshot().taken = trace_begin + static_cast<std::time_t>(std::floor(now_));
    ++result_.events;
  }

  // A round at that time, or at the next multiple of the interval.
  void want_round(double at) {
    if (options_.interval_s > 0) at = std::max(at, std::ceil(at / options_.interval_s) * options_.interval_s);
    round_at_ = std::min(round_at_, at);
  }

  void arrive() {
    const SimJob &job = jobs_[next_job_];
    const double best_s = input_.best.seconds(job);
    const double limit_s = job.time_limit_s > 0 ? job.time_limit_s : options_.limit_factor * best_s;
    SimJob known = job;
    known.epochs = input_.best.epochs(job);
    queue_.add(next_job_++, job, best_s,
               gang_of(known, input_.types, static_cast<int>(input_.cluster.nodes.size()), limit_s));
    want_round(now_);
  }

  void tell_changes(int ended) {
    if (!watcher_) return;
    for (const Progress::Change &change : progress_.changes())
      watcher_->went(jobs_[active(change.key).job], change, floor_.snapshot(), now_, change.key == ended);
  }

  void end_job(int key) {
    Active &active = this->active(key);
    if (options_.release_s == 0) vacate(active.result.job); // before anybody is told of the end
    progress_.end(key, now_);
    tell_changes(key);
    active.works = false;
    active.result.end_s = now_;
    result_.jobs.push_back(active.result);
    if (options_.release_s > 0)
      releasing_.push_back({now_ + options_.release_s, key});
    else
      release(key);
  }

  void vacate(std::uint32_t job) {
    now_free_.reset();
    floor_.end(job);
  }

  void release(int key) {
    Active &active = this->active(key);
    if (options_.release_s > 0) vacate(active.result.job);
    active = {};
    free_keys_.push_back(key);
    if (queue_.size() > 0) want_round(now_);
  }

  void round() {
    round_at_ = never;
    const std::size_t most = std::min(queue_.size(), static_cast<std::size_t>(options_.depth));
    std::size_t asked = 0;
    const std::int64_t begun = now_ns();
    const RoundResult planned = plan_(floor_.snapshot(), ++result_.rounds, [&] { return asked++ >= most; });
    if (options_.time_decisions && !planned.decisions.empty())
      result_.decision_us.push_back(static_cast<double>(now_ns() - begun) / 1e3 /
                                    static_cast<double>(planned.decisions.size()));
    result_.gangs_looked_at += planned.decisions.size();
    Backfill backfill(floor_.snapshot(), options_.settings.promises);
    Passed passed;
    std::vector<bool> started(planned.decisions.size());
    bool any = false, all = true;
    for (std::size_t i = 0; i < planned.decisions.size(); ++i) {
      started[i] = carry_out(i, planned.decisions[i], backfill, passed, !all);
      any |= started[i];
      all &= started[i];
    }
    const bool more = planned.decisions.size() < queue_.size();
    queue_.remove(started);
    if (any && more) want_round(now_); // those beyond the depth have moved up
  }

  // What became of a round so far.
  struct Passed {
    bool overtaken = false;            // a plan was not carried out, so what the planner saw behind it is not so
    std::vector<const Gang *> in_vain; // gangs that stock found no place for; the cluster only fills up
  };

  // Whether it started.
  bool carry_out(std::size_t at, const Decision &decision, Backfill &backfill, Passed &passed, bool passed_over) {
    const Gang &gang = queue_.gang(at);
    if (decision.verdict == Verdict::wait) {
      ++result_.waits;
      queue_.hold(at, floor_.snapshot().taken);
      want_round(std::max(now_ + 1, static_cast<double>(decision.wait_until - trace_begin)));
      return false;
    }
    if (decision.verdict == Verdict::no_room && !passed.overtaken) {
      backfill.promise(gang);
      return false;
    }
    std::optional<Plan> plan;
    if (decision.verdict == Verdict::place && floor_.has(decision.plan) && backfill.may_start(gang, decision.plan))
      plan = decision.plan;
    if (!plan) {
      // As in slurmctld: a plan on nodes that backfill does not offer, or that is overtaken, is stock's to replace.
      // So is a gang that the planner found no room for because of such a plan.
      passed.overtaken |= decision.verdict == Verdict::place;
      plan = by_stock(gang, backfill, passed);
      result_.left_to_stock += plan.has_value();
    }
    if (!plan) {
      if (decision.verdict != Verdict::place) backfill.promise(gang);
      return false;
    }
    start(at, *plan, passed_over);
    return true;
  }

  std::optional<Plan> by_stock(const Gang &gang, const Backfill &backfill, Passed &passed) {
    const auto asks_for_no_less = [&gang](const Gang *other) {
      return gang.time_limit_min >= other->time_limit_min && gang.components.size() == other->components.size() &&
             std::equal(gang.components.begin(), gang.components.end(), other->components.begin(), asks_for_the_same);
    };
    if (std::any_of(passed.in_vain.begin(), passed.in_vain.end(), asks_for_no_less)) return std::nullopt;
    Gang elsewhere = gang;
    for (Component &component : elsewhere.components) component.eligible = backfill.nodes_for(gang, component.eligible);
    if (!now_free_) now_free_.emplace(floor_.snapshot());
    auto plan = cons_tres_choice(*now_free_, elsewhere);
    if (!plan) passed.in_vain.push_back(&gang);
    return plan;
  }

  int fresh_key() {
    if (free_keys_.empty()) {
      active_.emplace_back();
      return static_cast<int>(active_.size()) - 1;
    }
    const int key = free_keys_.back();
    free_keys_.pop_back();
    return key;
  }

  void start(std::size_t at, const Plan &plan, bool passed_over) {
    const int key = fresh_key();
    Active &active = this->active(key);
    active.job = queue_.job(at);
    active.gang = queue_.gang(at);
    active.plan = plan;
    active.result.backfilled = passed_over;
    active.result.job = active.gang.job;
    now_free_.reset();
    floor_.start(active.gang, plan, floor_.snapshot().taken + std::time_t{60} * active.gang.time_limit_min);
    if (options_.launch_s > 0)
      launching_.push_back({now_ + options_.launch_s, key});
    else
      begin(key);
  }

  // The gang is whole and goes to work.
  void begin(int key) {
    Active &active = this->active(key);
    active.works = true;
    const SimJob &job = jobs_[active.job];
    const Occupant where = occupant(active.gang, active.plan);
    const double best = input_.best.speed(job), epochs = input_.best.epochs(job);
    JobResult &result = active.result;
    result.type = job.type;
    result.workers = job.workers;
    result.ps = job.ps;
    result.gpus = job.gpus();
    result.submit_s = job.submit_s;
    result.start_s = now_;
    result.best_s = epochs / best;
    result.place_s = options_.undisturbed ? result.best_s : epochs / input_.truth.alone(where);
    result.nodes = static_cast<int>(where.where.size());
    Work work{epochs, best, noise_factor(options_.noise, job, epochs, options_.seed), job.gpus()};
    if (options_.undisturbed) work.factor *= best; // of an epoch a second
    progress_.start(key, where, work, now_);
    tell_changes(-1);
    if (watcher_) watcher_->started(job, active.gang, active.plan, floor_.snapshot(), now_, progress_.speed(key), best);
  }

  void watch() {
    if (usage_.due(now_))
      usage_.add({now_, floor_.gpus_allocated(), progress_.gpus_useful(), static_cast<int>(queue_.size()),
                  floor_.gpus_stranded()});
    if (map_.due(now_)) map_.add(frame());
    if (watcher_) watcher_->at(now_, result_.jobs.size(), jobs_.size());
  }

  MapFrame frame() const {
    MapFrame made;
    made.at_s = now_;
    for (std::size_t key = 0; key < active_.size(); ++key)
      for (const Placement &placement : active_[key].plan.placements)
        if (active_[key].works)
          add_cells(placement, active_[key].result.job, progress_.slowdown(static_cast<int>(key)), made);
    return made;
  }

  void add_cells(const Placement &placement, std::uint32_t job, double slowdown, MapFrame &made) const {
    const Topology &topology = *input_.cluster.nodes[static_cast<std::size_t>(placement.node)].topology;
    const std::size_t first = made.cells.size();
    for (const int gpu : each(placement.gpus)) {
      const int domain = topology.gpus[static_cast<std::size_t>(gpu)].domain;
      const auto cell = std::find_if(made.cells.begin() + static_cast<std::ptrdiff_t>(first), made.cells.end(),
                                     [domain](const MapFrame::Cell &each) { return each.domain == domain; });
      if (cell != made.cells.end())
        ++cell->gpus;
      else
        made.cells.push_back({placement.node, domain, job, 1, 0, slowdown});
    }
    if (placement.ps > 0) made.cells.push_back({placement.node, -1, job, 0, placement.ps, slowdown});
  }

  SimResult finish() {
    const double first = jobs_.empty() ? 0 : jobs_.front().submit_s;
    result_.makespan_s = now_ - first;
    const double counted = jobs_.empty() ? 0 : std::min(now_, counted_until()) - first;
    const double whole = std::max(1e-9, counted * floor_.gpus());
    result_.gpus_allocated = allocated_ / whole;
    result_.gpus_useful = useful_ / whole;
    result_.gpus_stranded = stranded_ / whole;
    result_.usage = usage_.take();
    result_.map = map_.take();
    result_.seed = options_.seed;
    return std::move(result_);
  }

  Active &active(int key) { return active_[static_cast<std::size_t>(key)]; }

  const SimInput &input_;
  const std::vector<SimJob> &jobs_;
  const PlanRound &plan_;
  const SimOptions &options_;
  SimWatcher *const watcher_;
  std::unique_ptr<Truth> truth_;
  Progress progress_;
  Floor floor_;
  Queue queue_;
  std::optional<Cluster> now_free_; // the floor as stock sees it, until it changes
  std::vector<Active> active_;      // by key
  std::vector<int> free_keys_;
  std::deque<Due> launching_, releasing_;
  double now_ = 0, round_at_ = never;
  std::size_t next_job_ = 0;
  double allocated_ = 0, useful_ = 0, stranded_ = 0; // GPU seconds
  Timeline<Usage> usage_;
  Timeline<MapFrame> map_;
  SimResult result_;
};

} // namespace

PlanRound rounds_of(const Policy &policy, const Settings &settings) {
  return [&policy, settings](const Snapshot &snapshot, std::uint64_t round, const std::function<bool()> &stop) {
    return plan_round(snapshot, policy, settings, round, stop, Explain::plan_only);
  };
}

SimResult simulate(const SimInput &input, const PlanRound &plan, const SimOptions &options, SimWatcher *watcher) {
  return Simulation(input, plan, options, watcher).run();
}

} // namespace harmony
