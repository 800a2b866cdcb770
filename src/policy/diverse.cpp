#include "src/policy/diverse.h"

#include "src/plan/choose_gpus.h"
#include "src/plan/fit.h"
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

// GPUs right below one switch or bridge.
struct Below {
  int all = 0, free = 0;
  double part() const { return all ? static_cast<double>(free) / all : 0; }
};

std::vector<Below> domains_of(const NodeState &node, const Component &component) {
  const Topology *topology = gpu_topology(node);
  if (!topology) return {};
  const Bits suitable = suitable_gpus(node, component);
  std::vector<Below> domains(topology->domains.size());
  for (std::size_t gpu = 0; gpu < topology->gpus.size(); ++gpu) {
    const auto domain = static_cast<std::size_t>(topology->gpus[gpu].domain);
    if (domain >= domains.size()) continue;
    ++domains[domain].all;
    domains[domain].free += static_cast<int>(gpu) < suitable.size() && suitable.test(static_cast<int>(gpu));
  }
  return domains;
}

} // namespace

std::optional<Shares> on_free_domains(const Cluster &cluster, const Rooms &rooms, const Component &component,
                                      Shares shares) {
  const int gpus = rooms.gpus_per_worker;
  if (gpus <= 0) return std::nullopt;
  bool several = false;
  for (Share &share : shares) {
    std::vector<Below> domains = domains_of(cluster.node(share.node), component);
    several |= std::count_if(domains.begin(), domains.end(), [](const Below &each) { return each.all > 0; }) > 1;
    share.workers_in.assign(domains.size(), 0);
    for (int worker = 0; worker < share.workers; ++worker) {
      const auto most = std::max_element(domains.begin(), domains.end(), [gpus](const Below &a, const Below &b) {
        return (a.free >= gpus ? a.part() : -1) < (b.free >= gpus ? b.part() : -1);
      });
      if (most == domains.end() || most->free < gpus) break; // those left over may be anywhere
      most->free -= gpus;
      ++share.workers_in[static_cast<std::size_t>(most - domains.begin())];
    }
  }
  if (!several) return std::nullopt;
  return shares;
}

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
  for (const Prefer prefer : {Prefer::best_fit, Prefer::emptiest}) {
    if (gang.components.size() > 1) break; // parts of a hetjob may meet below a switch
    if (!go_on()) return;
    const auto below_free = [&](const Rooms &rooms, const Component &component) -> std::optional<Shares> {
      auto shares = fewest_nodes(rooms, component, choice(prefer, false, false, false));
      return shares ? on_free_domains(placer.cluster(), rooms, component, std::move(*shares)) : std::nullopt;
    };
    if (auto plan = placer.by(below_free, false)) consider(std::move(*plan), "fewest nodes, below free switches");
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
