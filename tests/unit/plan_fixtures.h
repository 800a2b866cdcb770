// Small clusters for the tests of planning, made of synthetic machines.
#pragma once

#include "src/discover/profiles.h"
#include "src/plan/place.h"
#include "src/policy/policy.h"
#include "src/values/gang.h"
#include "src/values/snapshot.h"

#include <algorithm>
#include <initializer_list>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace harmony {
namespace fixtures {

constexpr std::time_t now = 1000000;

// Nodes of one profile share its topology, as those of a cluster do.
inline std::shared_ptr<const Topology> machine(const std::string &profile) {
  static std::map<std::string, std::shared_ptr<const Topology>> known;
  auto &one = known[profile];
  if (!one) one = std::make_shared<const Topology>(synthetic_topology(profile).value());
  return one;
}

inline NodeState node(const std::string &name, const std::string &profile) {
  NodeState made;
  made.name = name;
  made.topology = machine(profile);
  made.usable = true;
  int cores = 0;
  for (const NumaNode &numa : made.topology->numa) {
    for (const CoreRange &range : numa.cores) cores = std::max(cores, range.last + 1);
    made.memory_mb += numa.memory_mb;
  }
  made.free_memory_mb = made.memory_mb;
  made.free_cores = Bits(cores);
  made.free_cores.set_all();
  made.free_gpus = Bits(static_cast<int>(made.topology->gpus.size()));
  made.free_gpus.set_all();
  for (const Gpu &gpu : made.topology->gpus) made.gpu_models.push_back(gpu.model);
  return made;
}

// n0, n1, … of these profiles.
inline Snapshot cluster(const std::vector<std::string> &profiles) {
  Snapshot snapshot;
  snapshot.taken = now;
  for (const std::string &profile : profiles)
    snapshot.nodes.push_back(node("n" + std::to_string(snapshot.nodes.size()), profile));
  return snapshot;
}
inline Snapshot cluster(int nodes, const std::string &profile) {
  return cluster(std::vector<std::string>(static_cast<std::size_t>(nodes), profile));
}

struct On {
  int node = 0;
  std::vector<int> gpus; // a worker on each
  int ps = 0;
};

// A job that runs already, a core for each of its tasks.
inline void run(Snapshot &snapshot, std::uint32_t job, const std::vector<On> &where, int cores_a_task = 1) {
  Running running;
  running.job = job;
  running.type = "vgg16";
  running.nodes = static_cast<int>(where.size());
  for (const On &on : where) {
    NodeState &here = snapshot.nodes[static_cast<std::size_t>(on.node)];
    Tenant tenant;
    tenant.running = static_cast<int>(snapshot.running.size());
    tenant.workers = static_cast<int>(on.gpus.size());
    tenant.ps = on.ps;
    tenant.cores = (tenant.workers + tenant.ps) * cores_a_task;
    tenant.gpus = Bits(here.free_gpus.size());
    for (const int gpu : on.gpus) tenant.gpus.set(gpu);
    here.free_gpus -= tenant.gpus;
    for (int taken = 0; taken < tenant.cores; ++taken) here.free_cores.clear(here.free_cores.first());
    here.tenants.push_back(tenant);
    running.workers += tenant.workers;
    running.ps += tenant.ps;
  }
  snapshot.running.push_back(running);
}

inline Bits all_nodes(const Snapshot &snapshot) {
  Bits all(static_cast<int>(snapshot.nodes.size()));
  all.set_all();
  return all;
}

inline Component component(const Snapshot &snapshot, int workers, int ps, int gpus) {
  Component made;
  made.workers = workers;
  made.ps = ps;
  made.gpus.per_job = gpus;
  made.eligible = all_nodes(snapshot);
  made.required = Bits(static_cast<int>(snapshot.nodes.size()));
  return made;
}

// A GPU for each worker, a core for each task, any nodes.
inline Gang gang(const Snapshot &snapshot, std::uint32_t job, int workers, int ps = 0) {
  Gang made;
  made.job = job;
  made.type = "resnet50";
  made.eligible_since = now;
  made.components.push_back(component(snapshot, workers, ps, workers));
  made.components.front().job = job;
  return made;
}

// Its workers are one component, its PS another.
inline Gang hetjob(const Snapshot &snapshot, std::uint32_t job, int workers, int ps) {
  Gang made = gang(snapshot, job, workers);
  made.components.push_back(component(snapshot, 0, ps, 0));
  made.components.back().job = job + 1;
  return made;
}

// The policies that need nothing but their name.
inline std::vector<std::string> without_model() {
  std::vector<std::string> names = policy_names();
  names.erase(std::remove(names.begin(), names.end(), "learned"), names.end());
  return names;
}

// Those of them that place gangs.
inline const std::vector<std::string> &placing() {
  static const std::vector<std::string> names{"pack",  "spread",          "tetris",
                                              "lif",   "one-distributed", "one-distributed-soft",
                                              "cons1", "tiresias-skew",   "optimus-even"};
  return names;
}

inline Proposal ask(const std::string &policy, const Snapshot &snapshot, const Gang &gang, bool may_wait = true) {
  return make_policy(policy)->propose(Cluster(snapshot), gang, may_wait);
}

// "n0 2+1, n1 2+0", or the verdict where there is no plan.
inline std::string where(const std::string &policy, const Snapshot &snapshot, const Gang &gang, bool may_wait = true) {
  const Proposal proposal = ask(policy, snapshot, gang, may_wait);
  return proposal.verdict == Verdict::place ? nodes_text(proposal.plan) : verdict_name(proposal.verdict);
}

inline std::size_t nodes_used(const Proposal &proposal) { return nodes_of(proposal.plan).size(); }

} // namespace fixtures
} // namespace harmony
