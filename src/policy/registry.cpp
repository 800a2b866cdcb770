#include "src/policy/learned.h"
#include "src/policy/policies.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace harmony {
namespace {

constexpr std::size_t most_candidates = 4;

struct Known {
  const char *name;
  std::unique_ptr<Policy> (*make)();
};

constexpr std::array<Known, 10> known{{{"pack", make_pack},
                                       {"spread", make_spread},
                                       {"tetris", make_tetris},
                                       {"lif", make_lif},
                                       {"one-distributed", make_one_distributed},
                                       {"one-distributed-soft", make_one_distributed_soft},
                                       {"cons1", make_cons1},
                                       {"tiresias-skew", make_tiresias_skew},
                                       {"optimus-even", make_optimus_even},
                                       {"stock", make_stock}}};

std::vector<Candidate> told(const std::vector<Considered> &considered) {
  std::vector<Candidate> candidates;
  for (const Considered &one : considered) {
    Candidate candidate{nodes_text(one.plan), one.score, one.why};
    const auto same = [&](const Candidate &other) { return other.nodes == candidate.nodes; };
    if (std::none_of(candidates.begin(), candidates.end(), same)) candidates.push_back(std::move(candidate));
    if (candidates.size() == most_candidates) break;
  }
  return candidates;
}

} // namespace

Proposal Policy::instead(const Cluster &, const Gang &, bool, const std::string &problem) const {
  Proposal proposal;
  proposal.verdict = Verdict::left_to_stock;
  proposal.reason = fmt::format("policy {} gave a plan that does not fit: {}", name(), problem);
  return proposal;
}

std::unique_ptr<Policy> make_policy(const std::string &name) {
  for (const Known &one : known)
    if (name == one.name) return one.make();
  return nullptr;
}

const std::vector<std::string> &policy_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all{learned_policy};
    for (const Known &one : known) all.emplace_back(one.name);
    return all;
  }();
  return names;
}

Proposal place_at(std::vector<Considered> considered, const std::string &reason) {
  Proposal proposal;
  proposal.verdict = Verdict::place;
  proposal.reason = reason;
  proposal.candidates = told(considered);
  proposal.plan = std::move(considered.front().plan);
  return proposal;
}

Proposal wait_for(const std::string &reason, const std::vector<Considered> &considered) {
  Proposal proposal;
  proposal.verdict = Verdict::wait;
  proposal.reason = reason;
  proposal.candidates = told(considered);
  return proposal;
}

Proposal no_room_for(GangPlacer &placer) {
  Proposal proposal;
  proposal.verdict = Verdict::no_room;
  proposal.reason = placer.what_is_short();
  return proposal;
}

Considered packed(const Cluster &cluster, Plan plan, const char *what) {
  const int nodes = static_cast<int>(nodes_of(plan).size()), stranded = gpus_stranded(cluster, plan);
  // Nodes count first, whatever is left over on them.
  const double score = -nodes - stranded / (1.0 + max_gpus * nodes);
  return {std::move(plan), score,
          fmt::format("{}: {}, {} left over", what, counted(nodes, "node"), counted(stranded, "GPU"))};
}

double load_of(const NodeClass &node, const Rooms &rooms, int workers, int ps) {
  const bool any = workers + ps > 0;
  const double gpus = node.gpus - node.free_gpus + (any ? rooms.gpus_for(workers, ps) : 0);
  const double cores =
      node.cores - node.free_cores + static_cast<double>((workers + ps) * rooms.cpus_per_task) / node.threads_per_core;
  // GPUs go before cores: one GPU of max_gpus weighs more than all cores.
  return (node.gpus ? 2 * max_gpus * gpus / node.gpus : 0) + (node.cores ? cores / node.cores : 0);
}

Score least_loaded(const Rooms &rooms, const Component &) {
  return [&rooms](const NodeClass &node, int workers, int ps, bool) { return -load_of(node, rooms, workers, ps); };
}

} // namespace harmony
