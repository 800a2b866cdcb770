#include "src/learn/episode.h"

#include "src/learn/task_lessons.h"
#include "src/plan/planner.h"
#include "src/policy/learned_scores.h"
#include "src/policy/proposer.h"
#include "src/encode/schema.h"
#include "src/sim/random.h"
#include "src/sim/sim_gang.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

namespace harmony {
namespace {

// A model whose answers nobody guards, with every range allowed.
ReadyModel unguarded(Model &model, const std::vector<std::string> &types) {
  ReadyModel ready;
  ready.model = std::shared_ptr<Model>(&model, [](Model *) {});
  const auto ranges = [](const std::vector<Feature> &features) {
    std::vector<FeatureRange> all;
    for (const Feature &each : features) all.push_back({each.name, -1e9, 1e9});
    return all;
  };
  ready.manifest.types = types;
  ready.manifest.job = ranges(job_features());
  ready.manifest.candidates = ranges(candidate_features(types));
  ready.manifest.gangs = ranges(gang_features(types));
  return ready;
}

// Decisions with when they were made.
struct Made {
  double at_s = 0;
  Experience experience;
};

class Chooser : public Policy {
public:
  Chooser(const Deciding &deciding, Proposer &proposer, Random &random, Scorer *tasks, std::vector<Made> &made)
      : deciding_(deciding), proposer_(proposer), random_(random), tasks_(tasks), made_(made) {}
  const char *name() const override { return "training"; }

  Proposal propose(const Cluster &cluster, const Gang &gang, bool may_wait) const override {
    const Encoder *seen = nullptr;
    const Proposer::TaskByTask by_tasks = [&](const Encoder &features, const Gang &narrow, const JobRow &job) {
      seen = &features;
      return tasks_ ? task_by_task(features, narrow, job) : std::nullopt;
    };
    Proposal no_room;
    auto question = proposer_.ask(cluster, gang, may_wait, by_tasks, no_room);
    if (!question) return no_room;
    float log_prob = std::numeric_limits<float>::quiet_NaN();
    const std::size_t chosen = choose(*question, log_prob);
    if (deciding_.record && question->rows.count > 1) keep(cluster, *question, chosen, log_prob);
    if (chosen >= question->gangs.size()) return wait_for("", {});
    if (deciding_.record_tasks && seen && gang.workers() + gang.ps() > 1)
      keep_tasks(cluster, *seen, gang, question->job, question->gangs[chosen].plan);
    std::swap(question->gangs.front(), question->gangs[chosen]);
    return place_at(std::move(question->gangs), "");
  }

private:
  std::optional<Plan> task_by_task(const Encoder &features, const Gang &gang, const JobRow &job) const {
    GangPlacer placer(features.cluster(), gang, true);
    placer.tell_apart(features.states());
    return placer.by(
        [&](const Rooms &rooms, const Component &component) -> std::optional<Shares> {
          LearnedScores scores(features, *tasks_, gang, component, job);
          return in_sequence(rooms, component, 0, scores);
        },
        false);
  }

  std::size_t choose(const Question &question, float &log_prob) const {
    if (deciding_.omega > 0 && random_.unit() < deciding_.omega) return by_rule(question);
    const std::vector<float> scores = deciding_.score(question.job, question.rows);
    const auto best = static_cast<std::size_t>(std::max_element(scores.begin(), scores.end()) - scores.begin());
    if (!deciding_.sample) return best;
    double sum = 0;
    for (const float each : scores) sum += std::exp(static_cast<double>(each - scores[best]));
    double left = random_.unit() * sum;
    std::size_t drawn = 0;
    while (drawn + 1 < scores.size() && (left -= std::exp(static_cast<double>(scores[drawn] - scores[best]))) > 0)
      ++drawn;
    log_prob = scores[drawn] - scores[best] - static_cast<float>(std::log(sum));
    return drawn;
  }

  // Job-aware exploration, after Harmony: best fit packing, or load balancing.
  std::size_t by_rule(const Question &question) const {
    const bool pack = random_.unit() < 0.5;
    std::size_t best = 0;
    const auto key = [&](std::size_t i) {
      const float *row = question.rows.values.data() + i * static_cast<std::size_t>(question.rows.width);
      const float spread = row[gang_column::nodes] + row[gang_column::left_over];
      return pack ? spread : -row[gang_column::left_over] - row[gang_column::nodes];
    };
    for (std::size_t i = 1; i < question.gangs.size(); ++i)
      if (key(i) < key(best)) best = i;
    return best;
  }

  static double second(const Cluster &cluster) { return static_cast<double>(cluster.now() - trace_begin); }

  void keep(const Cluster &cluster, const Question &question, std::size_t chosen, float log_prob) const {
    Experience experience;
    experience.job = question.job;
    experience.rows = question.rows;
    experience.chosen = static_cast<int>(chosen);
    experience.log_prob = log_prob;
    made_.push_back({second(cluster), std::move(experience)});
  }

  void keep_tasks(const Cluster &cluster, const Encoder &seen, const Gang &gang, const JobRow &job,
                  const Plan &plan) const {
    for (Experience &lesson : task_lessons(seen, gang, job, plan))
      made_.push_back({second(cluster), std::move(lesson)});
  }

  const Deciding &deciding_;
  Proposer &proposer_;
  Random &random_;
  Scorer *const tasks_;
  std::vector<Made> &made_;
};

// The work that jobs do in each interval, in parts of the job.
class IntervalRewards : public SimWatcher {
public:
  explicit IntervalRewards(const RewardRule &rule) : rule_(rule) {}

  void started(const SimJob &job, const Gang &, const Plan &, const Snapshot &, double, double, double best) override {
    total_[job.id] = job.epochs > 0 ? job.epochs : job.duration_s * best;
  }
  void went(const SimJob &job, const Progress::Change &change, const Snapshot &, double now, bool) override {
    const double rate = now > change.since ? change.epochs / total_[job.id] / (now - change.since) : 0;
    for (double at = change.since; at < now && rate > 0;) {
      const auto interval = static_cast<std::size_t>(at / rule_.interval_s);
      const double end = std::min(now, (static_cast<double>(interval) + 1) * rule_.interval_s);
      if (rewards_.size() <= interval) rewards_.resize(interval + 1);
      rewards_[interval] += rate * (end - at);
      at = end > at ? end : now;
    }
  }

  // What a decision of each interval is advised by.
  std::vector<double> returns() const {
    std::vector<double> all = rewards_;
    for (std::size_t i = all.size(); i-- > 1;) all[i - 1] += rule_.discount * all[i];
    return all;
  }

private:
  const RewardRule rule_;
  std::map<std::uint32_t, double> total_;
  std::vector<double> rewards_;
};

} // namespace

double mean_jct(const SimResult &result) {
  double sum = 0;
  for (const JobResult &job : result.jobs) sum += job.jct();
  return result.jobs.empty() ? 0 : sum / static_cast<double>(result.jobs.size());
}

Episode run_episode(const SimInput &input, const SimOptions &options, const Deciding &deciding,
                    const RewardRule &rule) {
  Random random(deciding.seed, "episode");
  std::vector<Made> made;
  std::optional<ReadyModel> ready;
  std::optional<Scorer> tasks;
  if (deciding.tasks) {
    ready = unguarded(*deciding.tasks, deciding.types);
    tasks.emplace(*ready);
  }
  const PlanRound rounds = [&](const Snapshot &snapshot, std::uint64_t round, const std::function<bool()> &stop) {
    Proposer proposer(snapshot, options.settings, deciding.types, deciding.reward);
    const Chooser chooser(deciding, proposer, random, tasks ? &*tasks : nullptr, made);
    return plan_round(snapshot, chooser, options.settings, round, stop, Explain::plan_only);
  };
  IntervalRewards rewards(rule);
  Episode episode;
  episode.mean_jct_s = mean_jct(simulate(input, rounds, options, deciding.record ? &rewards : nullptr));
  const std::vector<double> returns = rewards.returns();
  for (Made &each : made) {
    const auto interval = static_cast<std::size_t>(std::max(0.0, each.at_s) / rule.interval_s);
    each.experience.advised = interval < returns.size() ? static_cast<float>(returns[interval]) : 0;
    episode.experiences.push_back(std::move(each.experience));
  }
  return episode;
}

} // namespace harmony
