#include "src/sim/best_place.h"

#include "src/plan/fit.h"
#include "src/plan/place.h"
#include "src/plan/view.h"
#include "src/policy/policies.h"
#include "src/sim/sim_gang.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <stdexcept>

namespace harmony {
namespace {

// Those that the gang may have; "" is any, where nodes have no names for them.
std::set<std::string> gpu_models(const Cluster &cluster, const Gang &gang) {
  const std::string &asked = gang.components.front().gpus.model;
  std::set<std::string> models{asked};
  if (!asked.empty()) return models;
  for (int i = 0; i < cluster.size(); ++i)
    models.insert(cluster.node(i).gpu_models.begin(), cluster.node(i).gpu_models.end());
  return models;
}

// The workers of a placement by turns on the domains that have GPUs for them.
std::vector<int> by_turns_on_domains(const NodeState &node, const Component &component, int workers) {
  const int each_gpus = gpus_per_worker(component);
  std::vector<int> room(node.topology->domains.size()), split(room.size());
  const Bits suitable = suitable_gpus(node, component);
  for (const int gpu : each(suitable))
    ++room[static_cast<std::size_t>(node.topology->gpus[static_cast<std::size_t>(gpu)].domain)];
  for (bool any = true; any && workers > 0;) {
    any = false;
    for (std::size_t domain = 0; domain < room.size() && workers > 0; ++domain) {
      if (room[domain] < each_gpus) continue;
      room[domain] -= each_gpus;
      ++split[domain];
      --workers;
      any = true;
    }
  }
  return workers == 0 ? split : std::vector<int>();
}

// The same tasks on the same nodes with GPUs far apart; nothing where that makes no sense.
std::optional<Plan> spread_on_nodes(const Cluster &cluster, const Gang &gang, const Plan &plan) {
  Plan spread;
  std::map<int, NodeState> nodes;
  for (const Placement &placement : plan.placements) {
    const Component &component = gang.components[static_cast<std::size_t>(placement.component)];
    NodeState &node = nodes.try_emplace(placement.node, emptied(cluster.node(placement.node))).first->second;
    std::vector<int> split;
    if (placement.workers && gpus_per_worker(component) && !component.gpus.per_node)
      split = by_turns_on_domains(node, component, placement.workers);
    auto arranged =
        arrange(node, placement.node, component, placement.workers, placement.ps, cluster.memory_counts(), split);
    if (!arranged) return std::nullopt;
    arranged->component = placement.component;
    take_from(node, component, *arranged, cluster.memory_counts());
    spread.placements.push_back(std::move(*arranged));
  }
  return spread;
}

} // namespace

BestAlone best_alone(const Cluster &cluster, const Gang &gang, const Truth &truth) {
  BestAlone best;
  Gang one = gang;
  for (const std::string &model : gpu_models(cluster, gang)) {
    for (Component &component : one.components) component.gpus.model = model;
    GangPlacer placer(cluster, one, false, GangPlacer::Of::empty_cluster);
    const auto consider = [&](const std::optional<Plan> &plan) {
      if (!plan) return;
      best.speed = std::max(best.speed, truth.alone(occupant(one, *plan)));
      if (const auto spread = spread_on_nodes(cluster, one, *plan))
        best.speed = std::max(best.speed, truth.alone(occupant(one, *spread)));
    };
    const auto fewest = placer.fewest({});
    if (!fewest) continue;
    const int nodes = static_cast<int>(nodes_of(*fewest).size());
    best.nodes = best.nodes ? std::min(best.nodes, nodes) : nodes;
    consider(fewest);
    for (const Variant &variant : diverse_variants(one)) consider(placer.fewest(variant.choice));
    consider(placer.by_turns(least_loaded));
    consider(placer.by(even_on_fewest, false));
  }
  return best;
}

double BestPlace::speed(const SimJob &job) {
  const Shape shape{job.type, job.workers, job.ps, job.gpus_per_worker, job.cpus_per_worker, job.cpus_per_ps, job.gpu};
  const auto at = known_.find(shape);
  return at != known_.end() ? at->second : known_.emplace(shape, find(job)).first->second;
}

double BestPlace::find(const SimJob &job) const {
  Snapshot snapshot;
  snapshot.taken = trace_begin;
  snapshot.nodes = cluster_.nodes;
  const Cluster cluster(snapshot);
  const double best = best_alone(cluster, gang_of(job, types_, cluster.size(), 0), truth_).speed;
  if (best <= 0)
    throw std::runtime_error(fmt::format(
        "job {} never fits on this cluster: workers {}, GPUs a worker {}{}, CPUs a worker {}, PS {}", job.id,
        job.workers, job.gpus_per_worker, job.gpu.empty() ? "" : " of model " + job.gpu, job.cpus_per_worker, job.ps));
  return best;
}

} // namespace harmony
