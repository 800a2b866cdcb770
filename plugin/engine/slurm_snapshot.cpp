#include "plugin/slurm_version.h"

#include "plugin/engine/slurm_snapshot.h"

#include "plugin/engine/held_nodes.h"

#include "src/values/clock.h"
#include "plugin/engine/slurm_locks.h"
#include "plugin/engine/slurm_values.h"
#include "plugin/engine/usable_nodes.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace harmony {
namespace {

NodeState node_state(const NodeHardware &hardware) {
  NodeState node;
  node.name = hardware.name;
  node.threads_per_core = hardware.threads_per_core;
  node.weight = hardware.weight;
  node.memory_mb = node.free_memory_mb = hardware.memory_mb;
  node.free_cores = Bits(hardware.cores);
  node.free_cores.set_all();
  node.free_cores -= hardware.specialised;
  node.free_gpus = Bits(hardware.gpus);
  node.free_gpus.set_all();
  if (!hardware.topology) return node;
  node.topology = std::shared_ptr<const Topology>(hardware.topology, &hardware.topology->topology);
  node.gpu_models = hardware.topology->gres_types;
  for (std::size_t i = 0; i < node.topology->gpus.size(); ++i)
    if (node.topology->gpus[i].lost && static_cast<int>(i) < hardware.gpus) node.free_gpus.clear(static_cast<int>(i));
  return node;
}

void settle(const RunningCopy &job, int index, const NodeTable::Nodes &nodes, Snapshot &snapshot) {
  Running &running = snapshot.running.emplace_back(job.running);
  running.nodes = job.nodes.count();
  for (HeldOn &held : held_on_nodes(job, nodes)) {
    NodeState &node = snapshot.nodes[static_cast<std::size_t>(held.node)];
    node.free_cores -= held.cores;
    node.free_gpus -= held.gpus;
    if (job.unnumbered_gpus) node.free_gpus = Bits(node.free_gpus.size()); // which are free nobody can tell
    node.free_memory_mb -= std::min(node.free_memory_mb, held.memory_mb);
    node.whole_taken = node.whole_taken || job.alone;
    running.workers += held.workers;
    running.ps += held.ps;
    node.tenants.push_back({index, held.workers, held.ps, held.cores.count(), std::move(held.gpus)});
  }
}

// Slurm's own order: sort_job_queue2() of slurmctld.
bool goes_before(const PendingCopy &one, const PendingCopy &other) {
  const auto key = [](const PendingCopy &job) {
    return std::make_tuple(!job.reserved, -job.tier, ~job.gang.priority, job.gang.submitted, job.gang.job,
                           job.het_offset);
  };
  return key(one) < key(other);
}

// Components of a hetjob are one gang, at the place of the first of them.
void gather(std::vector<PendingCopy> &pending, Snapshot &snapshot) {
  std::sort(pending.begin(), pending.end(), goes_before);
  std::map<std::uint32_t, PendingCopy *> leaders;
  for (PendingCopy &each : pending) {
    each.gang.components.front().eligible = each.nodes.eligible();
    each.gang.components.front().required = std::move(each.nodes.required);
    if (!each.het_job) continue;
    PendingCopy *&leader = leaders[each.het_job];
    if (!leader) {
      leader = &each;
      continue;
    }
    leader->gang.components.push_back(std::move(each.gang.components.front()));
    if (leader->left.empty()) leader->left = each.left;
    each.gang.components.clear();
  }
  for (PendingCopy &each : pending) {
    if (each.gang.components.empty()) continue;
    if (each.het_job && each.left.empty() && each.het_size != static_cast<int>(each.gang.components.size()))
      each.left = "not all components of the hetjob wait for a plan";
    if (each.left.empty()) {
      snapshot.pending.push_back(std::move(each.gang));
      continue;
    }
    LeftToStock left{each.gang.job, each.gang.user, each.gang.type, std::move(each.left), {}};
    for (const Component &one : each.gang.components)
      if (each.het_job) left.components.push_back(one.job);
    snapshot.left.push_back(std::move(left));
  }
}

} // namespace

SnapshotTaken SnapshotTaker::take(const NodeTable::Nodes &nodes, const Settings &settings,
                                  const std::function<std::uint64_t()> &epoch) {
  SnapshotTaken taken;
  Snapshot &snapshot = taken.snapshot;
  const std::int64_t asked = now_ns();
  {
    const ReadLocks locks(to_read_all);
    const std::int64_t locked = now_ns();
    snapshot.taken = time(nullptr);
    snapshot.epoch = epoch();
    snapshot.memory_counts = slurm_conf.select_type_param & CR_MEMORY;
    taken.usable = usable_nodes();
    jobs_.copy(settings, snapshot.taken);
    taken.lock_ns = now_ns() - locked;
  }
  snapshot.nodes.reserve(nodes.size());
  for (const NodeHardware &each : nodes) snapshot.nodes.push_back(node_state(each));
  for (const int node : each(taken.usable))
    if (node < static_cast<int>(nodes.size())) snapshot.nodes[static_cast<std::size_t>(node)].usable = true;
  snapshot.running.reserve(jobs_.running().size());
  for (const auto &job : jobs_.running()) settle(*job, static_cast<int>(snapshot.running.size()), nodes, snapshot);
  gather(jobs_.pending(), snapshot);
  taken.claims = jobs_.take_claims();
  taken.all_ns = now_ns() - asked;
  return taken;
}

} // namespace harmony
