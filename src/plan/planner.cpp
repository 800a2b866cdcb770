#include "src/plan/planner.h"

#include "src/plan/backfill.h"
#include "src/plan/cluster.h"
#include "src/plan/fit.h"
#include "src/plan/interference.h"
#include "src/plan/place.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace harmony {
namespace {

// What kept nodes out takes a look at every node, so it is told of every gang of a short queue, and of a long one's as
// long as it costs little.
constexpr std::size_t gangs_always_masked = 64;
constexpr std::size_t looks_for_masks = 1000000;

std::string problem_of_counts(const Gang &gang, const Plan &plan) {
  for (std::size_t i = 0; i < gang.components.size(); ++i) {
    const Component &component = gang.components[i];
    int workers = 0, ps = 0;
    std::set<int> nodes;
    for (const Placement &placement : plan.placements) {
      if (placement.component != static_cast<int>(i)) continue;
      workers += placement.workers;
      ps += placement.ps;
      if (!nodes.insert(placement.node).second) return fmt::format("node {} twice", placement.node_name);
    }
    if (workers != component.workers || ps != component.ps)
      return fmt::format("{}+{} tasks instead of {}+{}", workers, ps, component.workers, component.ps);
    const int used = static_cast<int>(nodes.size());
    if (used < component.min_nodes || (component.max_nodes && used > component.max_nodes))
      return fmt::format("{} nodes, not within {} and {}", used, component.min_nodes, component.max_nodes);
    for (const int node : each(component.required))
      if (!nodes.count(node)) return "a required node is not used";
  }
  return {};
}

std::string problem_of_placement(const View &view, const Component &component, const Placement &placement) {
  const NodeState &node = view.node(placement.node);
  if (placement.node_name != node.name) return fmt::format("{} is not node {}", placement.node_name, placement.node);
  if (!component.eligible.test(placement.node)) return fmt::format("node {} is not eligible", node.name);
  if (placement.workers < 0 || placement.ps < 0 || placement.tasks() == 0)
    return fmt::format("no tasks on node {}", node.name);
  if (!fits(node, component, placement.workers, placement.ps, view.cluster().memory_counts()))
    return fmt::format("{}+{} tasks do not fit on node {}", placement.workers, placement.ps, node.name);
  // An exclusive job has all of its nodes.
  const int cores =
      component.whole_nodes ? node.free_cores.count() : cores_needed(node, component, placement.workers, placement.ps);
  const int gpus =
      component.whole_nodes ? node.free_gpus.count() : gpus_needed(component, placement.workers, placement.ps);
  const Bits free_gpus = component.whole_nodes ? node.free_gpus : suitable_gpus(node, component);
  if (placement.cores.count() != cores || !node.free_cores.contains(placement.cores))
    return fmt::format("wrong cores on node {}", node.name);
  if (placement.gpus.count() != gpus || !free_gpus.contains(placement.gpus))
    return fmt::format("wrong GPUs on node {}", node.name);
  return {};
}

// By our own arithmetic, whatever the policy said; empty if the plan is sound.
std::string problem_with(const Cluster &cluster, const Gang &gang, const Plan &plan) {
  for (const Placement &placement : plan.placements) {
    if (placement.component < 0 || placement.component >= static_cast<int>(gang.components.size()))
      return "no such component";
    if (placement.node < 0 || placement.node >= cluster.size()) return "no such node";
  }
  std::string problem = problem_of_counts(gang, plan);
  if (!problem.empty() || plan.placements.empty()) return plan.placements.empty() ? "it is empty" : problem;
  View view(cluster);
  for (const Placement &placement : plan.placements) {
    const Component &component = gang.components[static_cast<std::size_t>(placement.component)];
    problem = problem_of_placement(view, component, placement);
    if (!problem.empty()) return problem;
    // Of one component no two placements meet on a node.
    if (gang.components.size() > 1) view.take(component, placement);
  }
  return {};
}

// Long queues are of few kinds of jobs.
constexpr std::size_t most_remembered = 32;

class Round {
public:
  Round(const Snapshot &snapshot, const Policy &policy, const Settings &settings, std::uint64_t round, Explain explain)
      : snapshot_(snapshot), policy_(policy), settings_(settings), round_(round), explain_(explain), cluster_(snapshot),
        backfill_(cluster_, settings.promises) {}

  // Whether it was placed.
  bool decide(const Gang &gang, std::vector<Decision> &decisions) {
    Decision decision = about(gang.job, gang.user);
    decision.type = gang.type;
    const std::time_t until = (gang.held_since ? gang.held_since : snapshot_.taken) + settings_.max_wait_s;
    if (const Decision *full = had_no_room(gang)) {
      decision.verdict = full->verdict;
      decision.reason = full->reason;
      decision.masked = full->masked;
      decisions.push_back(std::move(decision));
      backfill_.promise(gang);
      return false;
    }
    const bool may_wait = snapshot_.taken < until && !gang.in_a_hurry, kept_out = backfill_.concerns(gang);
    Proposal proposal = kept_out ? proposal_for(beside_promises(gang), may_wait) : proposal_for(gang, may_wait);
    decision.verdict = proposal.verdict;
    decision.reason = std::move(proposal.reason);
    decision.candidates = std::move(proposal.candidates);
    if (!proposal.policy.empty()) decision.policy = std::move(proposal.policy);
    if (decision.verdict == Verdict::wait) hold_back(decision, until);
    mask(gang, decision);
    if (decision.verdict == Verdict::place) {
      decision.plan = std::move(proposal.plan);
      if (explain_ == Explain::fully) {
        decision.neighbours = neighbours(cluster_, decision.plan);
        decision.predicted_speed = predicted_speed(cluster_, gang, decision.plan);
      }
      cluster_.start(gang, decision.plan);
    }
    if (decision.verdict == Verdict::no_room) {
      if (kept_out) decision.reason += "; nodes that backfill keeps for jobs before it do not count";
      if (full_.size() < most_remembered) full_.push_back({&gang, decision});
      backfill_.promise(gang);
    }
    decisions.push_back(std::move(decision));
    return decisions.back().verdict == Verdict::place;
  }

  Decision about(std::uint32_t job, std::uint32_t user) const {
    Decision decision;
    decision.job = job;
    decision.user = user;
    decision.type = unknown_type;
    decision.policy = policy_.name();
    decision.round = round_;
    decision.decided = snapshot_.taken;
    return decision;
  }

private:
  // With a plan that fits, by our own arithmetic.
  Proposal proposal_for(const Gang &gang, bool may_wait) const {
    Proposal proposal = policy_.propose(cluster_, gang, may_wait);
    for (int tries = 0; tries < 2 && proposal.verdict == Verdict::place; ++tries) {
      const std::string problem = problem_with(cluster_, gang, proposal.plan);
      if (problem.empty()) return proposal;
      proposal = tries ? policy_.Policy::instead(cluster_, gang, may_wait, problem)
                       : policy_.instead(cluster_, gang, may_wait, problem);
    }
    return proposal;
  }

  // The gang, to be placed where backfill will let it start.
  Gang beside_promises(const Gang &gang) const {
    Gang narrow = gang;
    for (Component &component : narrow.components) component.eligible = backfill_.nodes_for(gang, component.eligible);
    return narrow;
  }

  // A cluster only fills up during a round, and more of it is promised: what had no room for one gang has none for
  // another that asks for the same and no less time.
  const Decision *had_no_room(const Gang &gang) const {
    for (const Full &each : full_)
      if (gang.time_limit_min >= each.gang->time_limit_min && each.gang->components.size() == gang.components.size() &&
          std::equal(gang.components.begin(), gang.components.end(), each.gang->components.begin(), asks_for_the_same))
        return &each.decision;
    return nullptr;
  }

  // No policy holds a gang back beyond its time, even one that was told and did not listen.
  void hold_back(Decision &decision, std::time_t until) const {
    decision.wait_until = until;
    if (snapshot_.taken < until) return;
    decision.verdict = Verdict::left_to_stock;
    decision.reason = fmt::format("policy {} would wait for longer than MaxWait", policy_.name());
    decision.wait_until = 0;
  }

  void mask(const Gang &gang, Decision &decision) {
    if (explain_ == Explain::plan_only || decision.verdict == Verdict::left_to_stock || gang.components.empty()) return;
    const auto looks = static_cast<std::size_t>(cluster_.size());
    if (gangs_masked_++ >= gangs_always_masked) {
      if (decision.verdict == Verdict::place || looks > looks_left_) return;
      looks_left_ -= looks;
    }
    std::map<std::string, int> nodes;
    for (std::size_t i = 0; i < looks; ++i) {
      const std::string by = mask_of(gang, static_cast<int>(i));
      if (!by.empty()) ++nodes[by];
    }
    for (const auto &[by, count] : nodes) decision.masked.push_back({by, count});
    std::stable_sort(decision.masked.begin(), decision.masked.end(),
                     [](const Masked &a, const Masked &b) { return a.nodes > b.nodes; });
  }

  // A node is out if no part of the gang can use it.
  std::string mask_of(const Gang &gang, int node) const {
    std::string first;
    for (const Component &component : gang.components) {
      std::string by = what_masks(cluster_.node(node), node, component, cluster_.memory_counts());
      if (by.empty()) return {};
      if (first.empty()) first = std::move(by);
    }
    return first;
  }

  const Snapshot &snapshot_;
  const Policy &policy_;
  const Settings &settings_;
  const std::uint64_t round_;
  const Explain explain_;
  Cluster cluster_;
  Backfill backfill_;
  struct Full {
    const Gang *gang = nullptr;
    Decision decision;
  };
  std::vector<Full> full_;
  std::size_t gangs_masked_ = 0;
  std::size_t looks_left_ = looks_for_masks;
};

} // namespace

RoundResult plan_round(const Snapshot &snapshot, const Policy &policy, const Settings &settings, std::uint64_t round,
                       const std::function<bool()> &out_of_time, Explain explain) {
  RoundResult result;
  Round planning(snapshot, policy, settings, round, explain);
  for (const LeftToStock &left : snapshot.left) {
    Decision decision = planning.about(left.job, left.user);
    decision.verdict = Verdict::left_to_stock;
    decision.type = left.type;
    decision.reason = left.reason;
    result.decisions.push_back(std::move(decision));
  }
  for (std::size_t i = 0; i < snapshot.pending.size(); ++i) {
    // A gang that waits keeps nothing from those behind it.
    const Gang &gang = snapshot.pending[i];
    for (int copy = 0; copy < std::max(1, gang.copies); ++copy) {
      if (out_of_time()) {
        result.not_reached = static_cast<int>(snapshot.pending.size() - i);
        return result;
      }
      if (!planning.decide(gang, result.decisions)) break;
    }
  }
  return result;
}

} // namespace harmony
