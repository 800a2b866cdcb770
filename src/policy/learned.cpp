#include "src/policy/learned.h"

#include "src/encode/encoder.h"
#include "src/encode/gang_features.h"
#include "src/encode/job_features.h"
#include "src/encode/schema.h"
#include "src/policy/learned_scores.h"
#include "src/policy/policies.h"
#include "src/policy/shortlist.h"
#include "src/values/measure.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

namespace harmony {
namespace {

// A model is asked about so many nodes in a round, all gangs together, and for one gang at most and at least so many. A
// cluster of a few hundred nodes in different states is looked at whole, and any number of nodes alike.
constexpr int nodes_a_round = 1 << 17;
constexpr int most_nodes_a_gang = 512;
constexpr int least_nodes_a_gang = 24;
// Beyond that many gangs that wait, fewer whole gangs are compared for each.
constexpr int short_queue = 256;
constexpr std::size_t few_variants = 2;

bool same_places(const Plan &one, const Plan &other) {
  return std::equal(one.placements.begin(), one.placements.end(), other.placements.begin(), other.placements.end(),
                    [](const Placement &a, const Placement &b) {
                      return a.component == b.component && a.node == b.node && a.workers == b.workers && a.ps == b.ps &&
                             a.gpus == b.gpus;
                    });
}

class Learned : public Policy {
public:
  Learned(const Snapshot &snapshot, const Settings &settings, const ReadyModel *model, const Unavailable &unavailable,
          ModelUse &use, const LearnedTimings &timings)
      : settings_(settings), model_(model), unavailable_(unavailable), use_(use), timings_(timings),
        heuristic_(make_policy(settings.heuristic)), queue_(pressure_of(snapshot)),
        types_(model ? model->manifest.types : std::vector<std::string>()) {
    if (!model) return;
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

  const Encoder &encoder(const Cluster &cluster) const {
    if (!encoder_ || &encoder_->cluster() != &cluster)
      encoder_ = std::make_unique<Encoder>(cluster, types_);
    else
      encoder_->update();
    return *encoder_;
  }

  Proposal by_model(const Cluster &cluster, const Gang &gang, bool may_wait) const {
    GangPlacer placer(cluster, gang, true);
    auto fewest = placer.fewest({});
    if (!fewest) return no_room_for(placer);
    Circumstances circumstances{queue_, placer.nodes_at_least(), std::max(1, settings_.max_wait_s), may_wait};
    std::optional<Measure> encoding(timings_.encode);
    const Encoder &features = encoder(cluster);
    const JobRow job = job_row(features, gang, circumstances);
    encoding.reset();

    std::vector<Considered> gangs;
    if (auto plan = in_turns(features, narrowed(placer, features, gang), job))
      add(gangs, std::move(*plan), "task by task");
    add(gangs, std::move(*fewest), "fewest nodes");
    std::size_t tried = 0;
    for (const Variant &variant : diverse_variants(gang)) {
      if (queue_.gangs > short_queue && ++tried > few_variants) break;
      if (auto plan = placer.fewest(variant.choice)) add(gangs, std::move(*plan), variant.what);
    }
    return best_of(features, gang, job, circumstances, std::move(gangs));
  }

  static void add(std::vector<Considered> &gangs, Plan plan, const char *what) {
    const auto same = [&](const Considered &other) { return same_places(other.plan, plan); };
    if (std::none_of(gangs.begin(), gangs.end(), same)) gangs.push_back({std::move(plan), 0, what});
  }

  // How many nodes the model is asked about for this gang.
  int nodes_to_ask_about(const Gang &gang) const {
    const int share = std::clamp(nodes_a_round / std::max(1, queue_.gangs), least_nodes_a_gang, most_nodes_a_gang);
    return std::max(share, 2 * (gang.workers() + gang.ps()));
  }

  // The gang, to be placed on a diverse part of the nodes if those are in too many states.
  Gang narrowed(GangPlacer &placer, const Encoder &features, const Gang &gang) const {
    Gang narrow = gang;
    const int most = nodes_to_ask_about(gang);
    if (features.distinct() <= most) return narrow;
    Bits nodes(static_cast<int>(features.states().size()));
    for (std::size_t i = 0; i < gang.components.size(); ++i)
      nodes |= shortlist(placer.rooms_of(static_cast<int>(i)), features, most);
    for (Component &component : narrow.components) component.eligible &= nodes;
    return narrow;
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
  Proposal best_of(const Encoder &features, const Gang &gang, const JobRow &job, const Circumstances &circumstances,
                   std::vector<Considered> gangs) const {
    Rows rows;
    const auto append = [&rows](const std::vector<float> &row) {
      rows.values.insert(rows.values.end(), row.begin(), row.end());
      rows.width = static_cast<int>(row.size());
      ++rows.count;
    };
    {
      const Measure encoding(timings_.encode);
      for (const Considered &one : gangs) append(gang_row(features, gang, one.plan, circumstances));
      if (circumstances.may_wait) append(wait_row(features));
    }
    scorer_->ask_about(job);
    const std::vector<float> scores = scorer_->gangs(rows);
    const auto best = static_cast<std::size_t>(std::max_element(scores.begin(), scores.end()) - scores.begin());
    scorer_->check_gang(rows.values.data() + best * static_cast<std::size_t>(rows.width));
    for (std::size_t i = 0; i < gangs.size(); ++i) gangs[i].score = static_cast<double>(scores[i]);
    std::stable_sort(gangs.begin(), gangs.end(),
                     [](const Considered &a, const Considered &b) { return a.score > b.score; });
    if (circumstances.may_wait && best == gangs.size())
      return wait_for(fmt::format("waiting is better by model {}: {:.3f} against {:.3f} for the best place now",
                                  model_->title(), scores[best], gangs.front().score),
                      gangs);
    std::string reason =
        fmt::format("the best of {} by model {}", counted(static_cast<int>(gangs.size()), "gang"), model_->title());
    if (circumstances.may_wait) reason += fmt::format("; waiting has {:.3f}", scores.back());
    return place_at(std::move(gangs), reason);
  }

  const Settings settings_;
  const ReadyModel *model_;
  const Unavailable unavailable_;
  ModelUse &use_;
  const LearnedTimings timings_;
  const std::unique_ptr<Policy> heuristic_;
  const QueuePressure queue_;
  const TypeIndex types_;
  mutable std::optional<Scorer> scorer_;
  mutable std::unique_ptr<Encoder> encoder_;
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
