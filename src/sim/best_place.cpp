#include "src/sim/best_place.h"

#include "src/plan/place.h"
#include "src/policy/policies.h"
#include "src/sim/sim_gang.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <stdexcept>

namespace harmony {
namespace {

std::set<std::string> gpu_models(const SimCluster &cluster, const SimJob &job) {
  std::set<std::string> models{job.gpu};
  if (!job.gpu.empty()) return models;
  for (const NodeState &node : cluster.nodes) models.insert(node.gpu_models.begin(), node.gpu_models.end());
  return models;
}

} // namespace

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
  double best = 0;
  SimJob one = job;
  for (const std::string &model : gpu_models(cluster_, job)) {
    one.gpu = model;
    const Gang gang = gang_of(one, types_, cluster.size(), 0);
    GangPlacer placer(cluster, gang, false);
    const auto consider = [&](const std::optional<Plan> &plan) {
      if (plan) best = std::max(best, truth_.alone(occupant(gang, *plan)));
    };
    consider(placer.fewest({}));
    for (const Variant &variant : diverse_variants(gang)) consider(placer.fewest(variant.choice));
    consider(placer.by_turns(least_loaded));
  }
  if (best <= 0)
    throw std::runtime_error(
        fmt::format("job {} ({} workers with {} GPUs and {} CPUs each, {} PS) never fits on this cluster", job.id,
                    job.workers, job.gpus_per_worker, job.cpus_per_worker, job.ps));
  return best;
}

} // namespace harmony
