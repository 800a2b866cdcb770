// Starts a gang only on the fewest nodes that could hold it if nothing else ran, and where no other distributed job is.

#include "src/policy/policies.h"

#include <fmt/format.h>

namespace harmony {
namespace {

std::size_t fewest_if_empty(const Cluster &cluster, const Gang &gang) {
  GangPlacer placer(cluster, gang, false, GangPlacer::Of::empty_cluster);
  const auto plan = placer.fewest({});
  // It holds the gang now, so it does when empty; if our arithmetic disagrees, nothing is gained by waiting.
  return plan ? nodes_of(*plan).size() : gang.components.size() * static_cast<std::size_t>(cluster.size());
}

class Cons1 : public Policy {
public:
  const char *name() const override { return "cons1"; }

  Proposal propose(const Cluster &cluster, const Gang &gang, bool may_wait) const override {
    GangPlacer placer(cluster, gang, true);
    auto anywhere = placer.fewest({});
    if (!anywhere) return no_room_for(placer);
    std::vector<Considered> considered{packed(cluster, std::move(*anywhere), "fewest nodes now, best fit")};
    const std::size_t now = nodes_of(considered.front().plan).size();
    if (now == 1) return place_at(std::move(considered), "fits on one node");
    if (!may_wait) return place_at(std::move(considered), "waited long enough for the fewest nodes");
    // A look at the whole cluster as if it were empty is saved where no fewer nodes could do.
    const bool surely = now <= static_cast<std::size_t>(placer.nodes_at_least());
    const std::size_t fewest = surely ? now : fewest_if_empty(cluster, gang);
    Choice alone;
    alone.avoid_distributed = true;
    // Where the fewest are not to be had anyhow, there is no need to look for them.
    if (auto plan = now <= fewest ? placer.fewest(alone) : std::nullopt)
      if (nodes_of(*plan).size() <= fewest) {
        considered.insert(considered.begin(), packed(cluster, std::move(*plan), "no other distributed job"));
        return place_at(std::move(considered), "the fewest nodes that can hold it, without another distributed job");
      }
    return wait_for(fewest == 1
                        ? std::string("waits for one node that holds it")
                        : fmt::format("waits for {} nodes that hold it, without another distributed job", fewest),
                    considered);
  }
};

} // namespace

std::unique_ptr<Policy> make_cons1() { return std::make_unique<Cons1>(); }

} // namespace harmony
