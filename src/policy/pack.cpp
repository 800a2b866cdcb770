// The fewest nodes that hold the gang, PS beside workers; among those the nodes with least left over.

#include "src/policy/policies.h"

namespace harmony {
namespace {

class Pack : public Policy {
public:
  const char *name() const override { return "pack"; }

  Proposal propose(const Cluster &cluster, const Gang &gang, bool) const override {
    GangPlacer placer(cluster, gang, false);
    auto best = placer.fewest({});
    if (!best) return no_room_for(placer);
    std::vector<Considered> considered{packed(cluster, std::move(*best), "fewest nodes, best fit")};
    Choice other;
    other.prefer = Prefer::emptiest;
    if (auto emptiest = placer.fewest(other))
      considered.push_back(packed(cluster, std::move(*emptiest), "fewest nodes, emptiest"));
    return place_at(std::move(considered), "fewest nodes that hold it, with least left over");
  }
};

} // namespace

std::unique_ptr<Policy> make_pack() { return std::make_unique<Pack>(); }

} // namespace harmony
