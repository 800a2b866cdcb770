#include "src/sim/oracle/oracle_model.h"

#include "src/policy/policies.h"

#include <fmt/format.h>

#include <algorithm>

namespace harmony {
namespace {

bool same_place(const Occupant &one, const Occupant &other) {
  return std::equal(one.where.begin(), one.where.end(), other.where.begin(), other.where.end(),
                    [](const TasksOn &a, const TasksOn &b) {
                      return a.node == b.node && a.workers == b.workers && a.ps == b.ps && a.gpus == b.gpus;
                    });
}

std::map<std::uint32_t, Occupant> occupants(const Cluster &cluster) {
  std::map<std::uint32_t, Occupant> all;
  for (int i = 0; i < cluster.size(); ++i)
    for (const Tenant &tenant : cluster.node(i).tenants) {
      const Running &running = cluster.job_of(tenant);
      Occupant &job = all[running.job];
      job.type = running.type;
      job.workers = running.workers;
      job.ps = running.ps;
      job.where.push_back({i, tenant.workers, tenant.ps, tenant.cores, tenant.gpus});
    }
  return all;
}

int gpus_of(const Occupant &job) {
  int gpus = 0;
  for (const TasksOn &tasks : job.where) gpus += tasks.gpus.count();
  return gpus;
}

} // namespace

int TrueModel::fresh_key() const {
  if (free_keys_.empty()) {
    gpus_by_key_.push_back(0);
    return static_cast<int>(gpus_by_key_.size()) - 1;
  }
  const int key = free_keys_.back();
  free_keys_.pop_back();
  return key;
}

void TrueModel::end_those_gone(const std::map<std::uint32_t, Occupant> &now) const {
  for (auto known = running_.begin(); known != running_.end();) {
    const auto still = now.find(known->first);
    if (still != now.end() && same_place(still->second, known->second.job)) {
      ++known;
      continue;
    }
    truth_->end(known->second.key);
    free_keys_.push_back(known->second.key);
    known = running_.erase(known);
  }
}

void TrueModel::follow(const Cluster &cluster) const {
  std::map<std::uint32_t, Occupant> now = occupants(cluster);
  end_those_gone(now);
  for (auto &[id, job] : now) {
    if (running_.count(id)) continue;
    const int key = fresh_key(), gpus = gpus_of(job);
    gpus_by_key_[static_cast<std::size_t>(key)] = gpus;
    truth_->start(key, job);
    running_[id] = {key, gpus, std::move(job)};
  }
}

const BestAlone &TrueModel::best(const Cluster &cluster, const Gang &gang) const {
  std::string asked = gang.type;
  for (const Component &each : gang.components)
    asked += fmt::format(" {}+{} {} {} {} {} {}", each.workers, each.ps, each.cpus_per_task, each.gpus.per_job,
                         each.gpus.per_task, each.gpus.per_node, each.gpus.model);
  const auto known = best_.find(asked);
  if (known != best_.end()) return known->second;
  return best_.emplace(std::move(asked), best_alone(cluster, gang, *truth_)).first->second;
}

Outlook TrueModel::outlook(const Cluster &cluster, const Gang &gang, const Plan &plan) const {
  Outlook found;
  const Occupant job = occupant(gang, plan);
  found.alone = truth_->alone(job);
  found.best = best(cluster, gang).speed;
  const int key = fresh_key();
  truth_->start(key, job);
  found.speed = truth_->speed(key);
  const std::vector<int> touched = truth_->touched();
  std::vector<double> after;
  for (const int each : touched) after.push_back(truth_->speed(each));
  truth_->end(key);
  free_keys_.push_back(key);
  for (std::size_t i = 0; i < touched.size(); ++i) {
    if (touched[i] == key) continue;
    const double before = truth_->speed(touched[i]);
    if (before != after[i])
      found.neighbours.push_back({gpus_by_key_[static_cast<std::size_t>(touched[i])], before, after[i]});
  }
  return found;
}

Predicted TrueModel::predict(const Cluster &cluster, const Gang &gang, const Plan &plan) const {
  follow(cluster);
  const Outlook found = outlook(cluster, gang, plan);
  // A place without neighbours is no reason to stop looking, as long as there may be a faster one.
  Predicted predicted{found.speed / found.best, std::max(1.0, found.alone / found.best), 0};
  for (const Felt &felt : found.neighbours) predicted.lost += 1 - felt.after / felt.before;
  return predicted;
}

} // namespace harmony
