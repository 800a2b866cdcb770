// At most one distributed job on a node: they would share its network card. A gang that fits on one node goes anywhere.
// The soft one avoids such nodes where it can, and never waits for others.

#include "src/policy/policies.h"

#include <fmt/format.h>

namespace harmony {
namespace {

class OneDistributed : public Policy {
public:
  explicit OneDistributed(bool soft) : soft_(soft) {}
  const char *name() const override { return soft_ ? "one-distributed-soft" : "one-distributed"; }

  Proposal propose(const Cluster &cluster, const Gang &gang, bool may_wait) const override {
    GangPlacer placer(cluster, gang, true);
    auto anywhere = placer.fewest({});
    if (!anywhere) return no_room_for(placer);
    std::vector<Considered> considered{packed(cluster, std::move(*anywhere), "fewest nodes, best fit")};
    const std::size_t nodes = nodes_of(considered.front().plan).size();
    if (nodes == 1) return place_at(std::move(considered), "fits on one node");
    Choice alone;
    alone.avoid_distributed = true;
    if (auto plan = placer.fewest(alone)) {
      considered.insert(considered.begin(), packed(cluster, std::move(*plan), "no other distributed job"));
      return place_at(std::move(considered), "fewest nodes without another distributed job");
    }
    if (soft_) return place_at(std::move(considered), "fewest nodes: none without another distributed job hold it");
    if (may_wait)
      return wait_for(fmt::format("waits for {} or more nodes without another distributed job", nodes), considered);
    return place_at(std::move(considered), "waited long enough for nodes without another distributed job");
  }

private:
  const bool soft_;
};

} // namespace

std::unique_ptr<Policy> make_one_distributed() { return std::make_unique<OneDistributed>(false); }
std::unique_ptr<Policy> make_one_distributed_soft() { return std::make_unique<OneDistributed>(true); }

} // namespace harmony
