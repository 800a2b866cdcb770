#include "src/sim/floor.h"

#include "src/plan/cluster.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

namespace harmony {

Floor::Floor(const SimCluster &cluster) {
  snapshot_.nodes = cluster.nodes;
  for (const NodeState &each : snapshot_.nodes) gpus_ += each.free_gpus.count();
}

int Floor::stranded_on(const NodeState &node) const { return node.tenants.empty() ? 0 : node.free_gpus.count(); }

int running_index(const Snapshot &snapshot, std::uint32_t job) {
  const auto at = std::find_if(snapshot.running.begin(), snapshot.running.end(),
                               [job](const Running &each) { return each.job == job; });
  return at == snapshot.running.end() ? -1 : static_cast<int>(at - snapshot.running.begin());
}

bool Floor::has(const Plan &plan) const {
  return std::all_of(plan.placements.begin(), plan.placements.end(), [this](const Placement &placement) {
    const NodeState &here = snapshot_.nodes[static_cast<std::size_t>(placement.node)];
    return here.free_cores.contains(placement.cores) && here.free_gpus.contains(placement.gpus) && !here.whole_taken;
  });
}

void Floor::take(const Component &component, const Placement &placement, int running) {
  NodeState &here = node(placement.node);
  if (!here.free_cores.contains(placement.cores) || !here.free_gpus.contains(placement.gpus) || here.whole_taken)
    throw std::logic_error(fmt::format("job {} gets what another holds on {}", component.job, here.name));
  gpus_stranded_ -= stranded_on(here);
  const std::uint64_t memory = here.free_memory_mb;
  take_from(here, component, placement, snapshot_.memory_counts);
  held_.back().push_back(
      {placement.node, placement.cores, placement.gpus, memory - here.free_memory_mb, component.whole_nodes});
  auto tenant = std::find_if(here.tenants.begin(), here.tenants.end(),
                             [running](const Tenant &each) { return each.running == running; });
  if (tenant == here.tenants.end()) {
    here.tenants.emplace_back();
    tenant = here.tenants.end() - 1;
    tenant->running = running;
    ++snapshot_.running.back().nodes;
  }
  tenant->workers += placement.workers;
  tenant->ps += placement.ps;
  tenant->cores += placement.cores.count();
  tenant->gpus.join(placement.gpus);
  gpus_allocated_ += placement.gpus.count();
  gpus_stranded_ += stranded_on(here);
}

void Floor::start(const Gang &gang, const Plan &plan, std::time_t ends) {
  Running job;
  job.job = gang.job;
  job.user = gang.user;
  job.type = gang.type;
  job.managed = true;
  job.workers = gang.workers();
  job.ps = gang.ps();
  job.model_kb = gang.model_kb;
  job.started = snapshot_.taken;
  job.ends = ends;
  snapshot_.running.push_back(job);
  held_.emplace_back();
  const int running = static_cast<int>(snapshot_.running.size()) - 1;
  for (const Placement &placement : plan.placements)
    take(gang.components.at(static_cast<std::size_t>(placement.component)), placement, running);
}

void Floor::give_back(const Held &held, int running) {
  NodeState &here = node(held.node);
  gpus_stranded_ -= stranded_on(here);
  here.free_cores |= held.cores;
  here.free_gpus |= held.gpus;
  here.free_memory_mb += held.memory_mb;
  if (held.whole) here.whole_taken = false;
  here.tenants.erase(std::remove_if(here.tenants.begin(), here.tenants.end(),
                                    [running](const Tenant &each) { return each.running == running; }),
                     here.tenants.end());
  gpus_allocated_ -= held.gpus.count();
  gpus_stranded_ += stranded_on(here);
}

void Floor::end(std::uint32_t job) {
  const int at = running_index(snapshot_, job);
  if (at < 0) throw std::logic_error(fmt::format("job {} does not run", job));
  for (const Held &held : held_[static_cast<std::size_t>(at)]) give_back(held, at);
  rename(static_cast<int>(snapshot_.running.size()) - 1, at);
  snapshot_.running.pop_back();
  held_.pop_back();
  ++snapshot_.epoch;
}

// The last running job takes the place of the one that ended.
void Floor::rename(int from, int to) {
  if (from == to) return;
  const auto source = static_cast<std::size_t>(from), target = static_cast<std::size_t>(to);
  for (const Held &held : held_[source])
    for (Tenant &tenant : node(held.node).tenants)
      if (tenant.running == from) tenant.running = to;
  snapshot_.running[target] = std::move(snapshot_.running[source]);
  held_[target] = std::move(held_[source]);
}

} // namespace harmony
