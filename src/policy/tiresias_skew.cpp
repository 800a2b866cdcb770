// Tiresias (NSDI'19): only models with skewed tensor sizes are worth the fewest nodes; all others take up the GPUs that
// are left over here and there, task by task on the node with the fewest free.

#include "src/policy/policies.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace harmony {
namespace {

// Most parameters in one tensor: fully connected layers or embeddings. What is not known is not skewed. The simulator's
// job types say the same of these (JobType::skewed).
constexpr std::array<std::string_view, 8> skewed_types{"alexnet", "dlrm",  "lstm",  "ncf",
                                                       "seq2seq", "vgg11", "vgg16", "vgg19"};

bool is_skewed(const std::string &type) {
  return std::find(skewed_types.begin(), skewed_types.end(), type) != skewed_types.end();
}

Score fewest_free(const Rooms &rooms, const Component &) {
  return [&rooms](const NodeClass &node, int workers, int ps, bool) {
    const int gpus = node.free_gpus - (workers + ps > 0 ? rooms.gpus_for(workers, ps) : 0);
    const double cores =
        node.free_cores - static_cast<double>((workers + ps) * rooms.cpus_per_task) / node.threads_per_core;
    return -(gpus + cores / 65536); // no node has so many cores: they decide between equals only
  };
}

class TiresiasSkew : public Policy {
public:
  const char *name() const override { return "tiresias-skew"; }

  Proposal propose(const Cluster &cluster, const Gang &gang, bool) const override {
    GangPlacer placer(cluster, gang, false);
    const bool skewed = is_skewed(gang.type);
    auto best = skewed ? placer.fewest({}) : placer.by_turns(fewest_free);
    if (!best) return no_room_for(placer);
    return place_at({packed(cluster, std::move(*best), skewed ? "fewest nodes" : "left-over GPUs")},
                    skewed ? "fewest nodes: its parameters are skewed"
                           : "left-over GPUs first: its parameters are not skewed");
  }
};

} // namespace

std::unique_ptr<Policy> make_tiresias_skew() { return std::make_unique<TiresiasSkew>(); }

} // namespace harmony
