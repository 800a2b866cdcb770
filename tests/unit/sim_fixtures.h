// Small simulations for tests: a truth that can be computed by heart, and workloads made by hand.
#pragma once

#include "src/discover/profiles.h"
#include "src/policy/policy.h"
#include "src/sim/best_place.h"
#include "src/sim/random.h"
#include "src/sim/simulate.h"
#include "tests/unit/plan_fixtures.h"

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace harmony {
namespace fixtures {

// An epoch a second alone; half of that beside another job on one of its nodes, a third beside two.
class ShareOfNode : public Truth {
public:
  std::string title() const override { return "share of node"; }
  std::unique_ptr<Truth> empty() const override { return std::make_unique<ShareOfNode>(); }
  void start(int key, const Occupant &job) override {
    jobs_[key] = nodes(job);
    touch(key);
  }
  void end(int key) override {
    touch(key);
    jobs_.erase(key);
    touched_.erase(std::find(touched_.begin(), touched_.end(), key));
  }
  const std::vector<int> &touched() const override { return touched_; }
  double speed(int key) const override {
    std::size_t most = 1;
    for (const int node : jobs_.at(key))
      most = std::max<std::size_t>(
          most, static_cast<std::size_t>(std::count_if(
                    jobs_.begin(), jobs_.end(), [node](const auto &each) { return each.second.count(node) > 0; })));
    return 1.0 / static_cast<double>(most);
  }
  double alone(const Occupant &) const override { return 1; }

private:
  static std::set<int> nodes(const Occupant &job) {
    std::set<int> all;
    for (const TasksOn &tasks : job.where) all.insert(tasks.node);
    return all;
  }
  void touch(int key) {
    touched_.clear();
    for (const auto &[other, there] : jobs_)
      if (other == key || std::any_of(there.begin(), there.end(), [&](int node) { return jobs_[key].count(node) > 0; }))
        touched_.push_back(other);
  }
  std::map<int, std::set<int>> jobs_;
  std::vector<int> touched_;
};

inline SimCluster sim_cluster(int nodes, const std::string &profile) {
  SimCluster made;
  made.name = profile;
  made.nodes = cluster(nodes, profile).nodes;
  made.racks.resize(made.nodes.size());
  return made;
}

inline SimJob sim_job(std::uint32_t id, double submit_s, int workers, double epochs, int ps = 0) {
  SimJob job;
  job.id = id;
  job.submit_s = submit_s;
  job.workers = workers;
  job.ps = ps;
  job.epochs = epochs;
  return job;
}

struct SimRun {
  SimCluster cluster;
  Workload workload;
  SimOptions options;
  std::string policy = "pack";
  JobTypes types;

  SimResult run(SimWatcher *watcher = nullptr) const { return run(*make_policy(policy), watcher); }
  SimResult run(const Policy &by, SimWatcher *watcher = nullptr) const {
    const ShareOfNode truth;
    BestPlace best(cluster, types, truth);
    return simulate({cluster, types, workload, truth, best}, rounds_of(by, options.settings), options, watcher);
  }
};

inline const JobResult &of_job(const SimResult &result, std::uint32_t job) {
  return *std::find_if(result.jobs.begin(), result.jobs.end(), [job](const auto &each) { return each.job == job; });
}

// Jobs of 1 to 8 workers, some with PS, that keep a cluster of pcie8 nodes busy.
inline Workload random_jobs(int count, std::uint64_t seed, double mean_gap_s = 20) {
  Workload made;
  Random random(seed, "jobs");
  double at = 0;
  for (int i = 0; i < count; ++i) {
    SimJob job = sim_job(static_cast<std::uint32_t>(i + 1), at, 1 + random.below(8), 20 + random.exponential(200));
    if (random.unit() < 0.4) job.ps = 1 + random.below(3);
    if (random.unit() < 0.2) job.cpus_per_ps = 2;
    made.jobs.push_back(job);
    if (random.unit() < 0.8) at += random.exponential(mean_gap_s); // others come at the same moment
  }
  return made;
}

} // namespace fixtures
} // namespace harmony
