#include "src/policy/learned.h"

#include "src/policy/learned_scores.h"
#include "src/policy/policies.h"
#include "src/policy/proposer.h"
#include "src/values/measure.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

namespace harmony {
namespace {

class Learned : public Policy {
public:
  Learned(const Snapshot &snapshot, const Settings &settings, const ReadyModel *model, const Unavailable &unavailable,
          ModelUse &use, const LearnedTimings &timings)
      : settings_(settings), model_(model), unavailable_(unavailable), use_(use), timings_(timings),
        heuristic_(make_policy(settings.heuristic)) {
    if (!model) return;
    proposer_.emplace(snapshot, settings_, model->manifest.types, model->reward, timings.encode);
    scorer_.emplace(*model);
    if (timings.inference) scorer_->timed = [timing = timings.inference](std::int64_t ns) { timing->add(ns); };
  }
  ~Learned() override {
    if (!scorer_) return;
    use_.scores_computed += scorer_->computed();
    use_.scores_reused += scorer_->reused();
  }

  const char *name() const override { return learned_policy; }

  Proposal propose(const Cluster &cluster, const Gang &gang, bool may_wait) const override {
    const Measure whole(timings_.propose);
    if (!model_) return by_heuristic(cluster, gang, may_wait, unavailable_.fault, unavailable_.why);
    const Breaker::State state = use_.breaker.state(now_ms());
    if (state == Breaker::State::open)
      return by_heuristic(cluster, gang, may_wait, ModelFault::breaker_open, "it failed several times in a row");
    try {
      Proposal proposal = by_model(cluster, gang, may_wait);
      if (proposal.verdict == Verdict::no_room) return proposal; // by our own arithmetic: the model was not asked
      use_.breaker.good(now_ms());
      if (state == Breaker::State::closed) {
        ++use_.by_model;
        return proposal;
      }
      ++use_.probes;
      return by_heuristic(cluster, gang, may_wait, ModelFault::breaker_open, "it is being probed after faults");
    } catch (const ModelRefused &refused) {
      use_.probes += state == Breaker::State::probing;
      // An odd job says nothing about the model.
      if (refused.fault != ModelFault::out_of_distribution) use_.breaker.fault(now_ms(), refused.fault);
      return by_heuristic(cluster, gang, may_wait, refused.fault, refused.what());
    }
  }

  Proposal instead(const Cluster &cluster, const Gang &gang, bool may_wait, const std::string &problem) const override {
    use_.breaker.fault(now_ms(), ModelFault::not_feasible);
    return by_heuristic(cluster, gang, may_wait, ModelFault::not_feasible, problem);
  }

private:
  Proposal by_heuristic(const Cluster &cluster, const Gang &gang, bool may_wait, ModelFault fault,
                        const std::string &why) const {
    const auto cause = static_cast<std::size_t>(fault);
    if (use_.faults[cause]++ == 0) use_.lines[cause] = fmt::format("JobId={}: {}", gang.job, why);
    Proposal proposal = heuristic_->propose(cluster, gang, may_wait);
    proposal.policy = heuristic_->name();
    proposal.reason += fmt::format(" (not by the model: {})", why);
    return proposal;
  }

  Proposal by_model(const Cluster &cluster, const Gang &gang, bool may_wait) const {
    const auto by_tasks = [this](const Encoder &features, const Gang &narrow, const JobRow &job) {
      return in_turns(features, narrow, job);
    };
    Proposal no_room;
    auto question = proposer_->ask(cluster, gang, may_wait, by_tasks, no_room);
    return question ? best_of(std::move(*question)) : no_room;
  }

  // Where the model's scores lead, task by task.
  std::optional<Plan> in_turns(const Encoder &features, const Gang &gang, const JobRow &job) const {
    GangPlacer placer(features.cluster(), gang, true);
    placer.tell_apart(features.states());
    const auto way = [&](const Rooms &rooms, const Component &component) -> std::optional<Shares> {
      // Every node of such a job holds as many GPUs, so more nodes would be more GPUs than it asked for.
      int most_nodes = 0;
      if (component.gpus.per_node) {
        const auto fewest = fewest_nodes(rooms, component, {});
        if (!fewest) return std::nullopt;
        most_nodes = static_cast<int>(fewest->size());
      }
      LearnedScores scores(features, *scorer_, gang, component, job);
      return in_sequence(rooms, component, most_nodes, scores);
    };
    return placer.by(way, false);
  }

  // The second level: whole gangs, and waiting.
  Proposal best_of(Question question) const {
    std::vector<Considered> &gangs = question.gangs;
    scorer_->ask_about(question.job);
    const std::vector<float> scores = scorer_->gangs(question.rows);
    const auto best = static_cast<std::size_t>(std::max_element(scores.begin(), scores.end()) - scores.begin());
    scorer_->check_gang(question.rows.values.data() + best * static_cast<std::size_t>(question.rows.width));
    for (std::size_t i = 0; i < gangs.size(); ++i) gangs[i].score = static_cast<double>(scores[i]);
    std::stable_sort(gangs.begin(), gangs.end(),
                     [](const Considered &a, const Considered &b) { return a.score > b.score; });
    if (question.may_wait && best == gangs.size())
      return wait_for(fmt::format("waiting is better by model {}: {:.3f} against {:.3f} for the best place now",
                                  model_->title(), scores[best], gangs.front().score),
                      gangs);
    std::string reason =
        fmt::format("the best of {} by model {}", counted(static_cast<int>(gangs.size()), "gang"), model_->title());
    if (question.may_wait) reason += fmt::format("; waiting has {:.3f}", scores.back());
    return place_at(std::move(gangs), reason);
  }

  const Settings settings_;
  const ReadyModel *model_;
  const Unavailable unavailable_;
  ModelUse &use_;
  const LearnedTimings timings_;
  const std::unique_ptr<Policy> heuristic_;
  mutable std::optional<Proposer> proposer_;
  mutable std::optional<Scorer> scorer_;
};

} // namespace

std::unique_ptr<Policy> make_learned(const Snapshot &snapshot, const Settings &settings, const ReadyModel &model,
                                     ModelUse &use, const LearnedTimings &timings) {
  return std::make_unique<Learned>(snapshot, settings, &model, Unavailable(), use, timings);
}

std::unique_ptr<Policy> make_learned_without_model(const Snapshot &snapshot, const Settings &settings,
                                                   const Unavailable &unavailable, ModelUse &use) {
  return std::make_unique<Learned>(snapshot, settings, nullptr, unavailable, use, LearnedTimings());
}

} // namespace harmony
