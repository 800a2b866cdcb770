// Load balancing: each task in turn to the least loaded node.

#include "src/policy/policies.h"

#include <algorithm>
#include <map>

namespace harmony {
namespace {

// Higher is better: the part of the GPUs that its most loaded node keeps free.
double least_free_part(const Cluster &cluster, const Plan &plan) {
  std::map<int, int> taken;
  for (const Placement &placement : plan.placements) taken[placement.node] += placement.gpus.count();
  double least = 1;
  for (const auto &[index, gpus] : taken) {
    const Bits &free = cluster.node(index).free_gpus;
    if (free.size()) least = std::min(least, static_cast<double>(free.count() - gpus) / free.size());
  }
  return least;
}

class Spread : public Policy {
public:
  const char *name() const override { return "spread"; }

  Proposal propose(const Cluster &cluster, const Gang &gang, bool) const override {
    GangPlacer placer(cluster, gang, false);
    auto best = placer.by_turns(least_loaded);
    if (!best) return no_room_for(placer);
    std::vector<Considered> considered;
    const double score = least_free_part(cluster, *best);
    considered.push_back({std::move(*best), score, "each task on the least loaded node"});
    if (auto fewest = placer.fewest({})) {
      const double its = least_free_part(cluster, *fewest);
      if (its <= score) considered.push_back({std::move(*fewest), its, "fewest nodes"});
    }
    return place_at(std::move(considered), "each task on the least loaded node");
  }
};

} // namespace

std::unique_ptr<Policy> make_spread() { return std::make_unique<Spread>(); }

} // namespace harmony
