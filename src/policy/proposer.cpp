#include "src/policy/proposer.h"

#include "src/encode/gang_features.h"
#include "src/policy/diverse.h"
#include "src/policy/shortlist.h"
#include "src/reward/network_reward.h"
#include "src/values/measure.h"

#include <algorithm>
#include <utility>

namespace harmony {
namespace {

// A model is asked about so many nodes in a round, all gangs together, and for one gang at most and at least so many. A
// cluster of a few hundred nodes in different states is looked at whole, and any number of nodes alike.
constexpr int nodes_a_round = 1 << 16;
constexpr int most_nodes_a_gang = 256;
constexpr int least_nodes_a_gang = 16;
// Beyond that many gangs that wait, fewer whole gangs are compared for each.
constexpr int short_queue = 256;
constexpr std::size_t few_gangs = 3;

bool same_places(const Plan &one, const Plan &other) {
  return std::equal(one.placements.begin(), one.placements.end(), other.placements.begin(), other.placements.end(),
                    [](const Placement &a, const Placement &b) {
                      return a.component == b.component && a.node == b.node && a.workers == b.workers && a.ps == b.ps &&
                             a.gpus == b.gpus;
                    });
}

void add(std::vector<Considered> &gangs, Plan plan, const char *what) {
  const auto same = [&](const Considered &other) { return same_places(other.plan, plan); };
  if (std::none_of(gangs.begin(), gangs.end(), same)) gangs.push_back({std::move(plan), 0, what});
}

void append(Rows &rows, const std::vector<float> &row) {
  rows.values.insert(rows.values.end(), row.begin(), row.end());
  rows.width = static_cast<int>(row.size());
  ++rows.count;
}

} // namespace

Proposer::Proposer(const Snapshot &snapshot, const Settings &settings, const std::vector<std::string> &types,
                   const std::shared_ptr<const RewardNetwork> &network, Timing *encoding)
    : settings_(settings), queue_(pressure_of(snapshot)), by_limit_(snapshot), types_(types),
      usual_(network ? network->usual() : UsualTimes()), encoding_(encoding) {
  if (network)
    reward_ = std::make_unique<NetworkReward>(network, types_);
  else
    reward_ = make_assumed_reward();
}

const Encoder &Proposer::encoder(const Cluster &cluster) {
  if (!encoder_ || &encoder_->cluster() != &cluster) {
    encoder_ = std::make_unique<Encoder>(cluster, types_);
    openings_ = std::make_unique<Openings>(cluster, types_, usual_);
  } else {
    encoder_->update();
  }
  return *encoder_;
}

Circumstances Proposer::circumstances(const Gang &gang, int nodes_at_least, bool may_wait) {
  Circumstances found;
  found.queue = queue_;
  found.shorter = by_limit_.shorter_than(gang.time_limit_min);
  found.displaced = by_limit_.displaced(gang.time_limit_min, encoder_->totals().free_gpus, gang.gpus());
  found.usual_s = usual_.seconds(types_.of(gang.type), 60.0 * gang.time_limit_min);
  found.nodes_at_least = nodes_at_least;
  found.max_wait_s = std::max(1, settings_.max_wait_s);
  found.may_wait = may_wait;
  if (!may_wait) return found;
  found.next_end_s = openings_->next_end();
  // Of hetjobs the fewest nodes are those of one part, and nodes without GPUs have no openings.
  if (gang.components.size() == 1 && gang.gpus() > 0)
    found.opening_s =
        openings_->soonest(nodes_at_least, (gang.gpus() + nodes_at_least - 1) / nodes_at_least, nodes_at_least > 1);
  return found;
}

// How many nodes the model is asked about for this gang.
int Proposer::nodes_to_ask_about(const Gang &gang) const {
  const int share = std::clamp(nodes_a_round / std::max(1, queue_.gangs), least_nodes_a_gang, most_nodes_a_gang);
  return std::max(share, 2 * (gang.workers() + gang.ps()));
}

// The gang, to be placed on a diverse part of the nodes if those are in too many states.
Gang Proposer::narrowed(GangPlacer &placer, const Encoder &features, const Gang &gang) const {
  Gang narrow = gang;
  const int most = nodes_to_ask_about(gang);
  if (features.distinct() <= most) return narrow;
  Bits nodes(static_cast<int>(features.states().size()));
  for (std::size_t i = 0; i < gang.components.size(); ++i)
    nodes |= shortlist(placer.rooms_of(static_cast<int>(i)), features, most);
  for (Component &component : narrow.components) component.eligible &= nodes;
  return narrow;
}

std::vector<Considered> Proposer::gangs_for(GangPlacer &placer, const Gang &gang, const Encoder &features,
                                            const JobRow &job, const TaskByTask &task_by_task) const {
  std::vector<Considered> gangs;
  if (task_by_task)
    if (auto plan = task_by_task(features, narrowed(placer, features, gang), job))
      add(gangs, std::move(*plan), "task by task");
  const std::size_t most = static_cast<std::size_t>(std::max(1, settings_.candidates)),
                    wanted = queue_.gangs > short_queue ? std::min(few_gangs, most) : most;
  each_diverse_gang(
      placer, gang, [&](Plan plan, const char *what) { add(gangs, std::move(plan), what); },
      [&] { return gangs.size() < wanted; });
  return gangs;
}

std::optional<Question> Proposer::ask(const Cluster &cluster, const Gang &gang, bool may_wait,
                                      const TaskByTask &task_by_task, Proposal &no_room) {
  GangPlacer placer(cluster, gang, true);
  if (!placer.fewest({})) {
    no_room = no_room_for(placer);
    return std::nullopt;
  }
  Question question;
  question.may_wait = may_wait;
  Circumstances around;
  const Encoder &features = [&]() -> const Encoder & {
    const Measure encoding(encoding_);
    const Encoder &now = encoder(cluster);
    around = circumstances(gang, std::max(1, placer.nodes_at_least()), may_wait);
    question.job = job_row(now, gang, around);
    return now;
  }();
  question.gangs = gangs_for(placer, gang, features, question.job, task_by_task);
  const Measure rows(encoding_);
  for (const Considered &one : question.gangs)
    append(question.rows, gang_row(features, gang, one.plan, reward_->predict(cluster, gang, one.plan), around));
  if (may_wait) append(question.rows, wait_row(features, gang, around));
  return question;
}

} // namespace harmony
