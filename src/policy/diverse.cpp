#include "src/policy/diverse.h"

#include "src/policy/policies.h"

#include <algorithm>
#include <utility>

namespace harmony {
namespace {

Choice choice(Prefer prefer, bool avoid, bool even, bool apart) {
  Choice made;
  made.prefer = prefer;
  made.avoid_distributed = avoid;
  made.ps_even = even;
  made.ps_apart = apart;
  return made;
}

} // namespace

std::vector<Variant> diverse_variants(const Gang &gang) {
  constexpr Prefer fit = Prefer::best_fit, empty = Prefer::emptiest;
  std::vector<Variant> all{{"fewest nodes, emptiest", choice(empty, false, false, false)},
                           {"fewest nodes without a distributed job", choice(fit, true, false, false)},
                           {"emptiest nodes without a distributed job", choice(empty, true, false, false)}};
  if (gang.ps() == 0) return all;
  all.push_back({"PS evenly on the nodes", choice(empty, false, true, false)});
  all.push_back({"PS apart from workers", choice(fit, false, false, true)});
  all.push_back({"PS apart from workers, emptiest", choice(empty, false, false, true)});
  return all;
}

void each_diverse_gang(GangPlacer &placer, const Gang &gang,
                       const std::function<void(Plan plan, const char *what)> &consider,
                       const std::function<bool()> &go_on) {
  auto first = placer.fewest({});
  if (!first) return;
  Choice elsewhere;
  elsewhere.not_on = nodes_of(*first);
  consider(std::move(*first), "fewest nodes");
  for (const Variant &variant : diverse_variants(gang)) {
    if (!go_on()) return;
    if (auto plan = placer.fewest(variant.choice)) consider(std::move(*plan), variant.what);
  }
  if (!go_on()) return;
  if (auto plan = placer.by_turns(least_loaded)) consider(std::move(*plan), "each task on the least loaded node");
  if (go_on())
    if (auto plan = placer.by(even_on_fewest, false)) consider(std::move(*plan), "evenly on the fewest nodes");
  // Nodes with as much room can differ in which GPUs are free: others of the kind are worth a look.
  constexpr int others = 4;
  for (int i = 0; i < others && go_on(); ++i) {
    auto plan = placer.fewest(elsewhere);
    if (!plan) return;
    for (const int node : nodes_of(*plan)) elsewhere.not_on.push_back(node);
    std::sort(elsewhere.not_on.begin(), elsewhere.not_on.end());
    consider(std::move(*plan), "fewest nodes, others");
  }
}

} // namespace harmony
