#include "src/reward/network_reward.h"

#include "src/plan/choose_gpus.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace harmony {

struct NetworkReward::Mine {
  int node = 0, workers = 0, ps = 0;
  Bits gpus;
};

namespace {

constexpr std::uint64_t the_gang = ~std::uint64_t{0};

std::uint64_t name_of(const Tenant &tenant) {
  return static_cast<std::uint64_t>(static_cast<std::int64_t>(tenant.running));
}

} // namespace

RewardPlace NetworkReward::place_of_gang(const Cluster &cluster, const Mine &mine) const {
  const NodeState &node = cluster.node(mine.node);
  RewardPlace place{gpu_topology(node), node.free_gpus.size(), mine.workers, mine.ps, mine.gpus, {}};
  for (const Tenant &tenant : node.tenants) {
    const Running &job = cluster.job_of(tenant);
    place.beside.push_back({name_of(tenant), types_.of(job.type), job.distributed(), tenant.workers, tenant.ps,
                            &tenant.gpus, job.workers, job.ps});
  }
  return place;
}

RewardPlace NetworkReward::place_of_neighbour(const Cluster &cluster, int node, const Tenant &tenant) const {
  RewardPlace place = place_of_gang(cluster, {node, tenant.workers, tenant.ps, tenant.gpus});
  const auto itself = [&](const RewardTenant &other) { return other.job == name_of(tenant); };
  place.beside.erase(std::remove_if(place.beside.begin(), place.beside.end(), itself), place.beside.end());
  return place;
}

// What a neighbour meets on nodes that the gang does not share stays as it is, and is left out.
void NetworkReward::meet_neighbours(const Cluster &cluster, const Gang &gang, const std::vector<Mine> &mine,
                                    Predicted &predicted) const {
  struct Neighbour {
    const Running *job = nullptr;
    int gpus = 0; // on the nodes that it shares with the gang
    std::vector<RewardPlace> before, after;
  };
  std::map<int, Neighbour> neighbours; // by Tenant::running
  for (const Mine &here : mine)
    for (const Tenant &tenant : cluster.node(here.node).tenants) {
      Neighbour &its = neighbours[tenant.running];
      its.job = &cluster.job_of(tenant);
      its.gpus += tenant.gpus.count();
      its.before.push_back(place_of_neighbour(cluster, here.node, tenant));
      its.after.push_back(its.before.back());
      its.after.back().beside.push_back({the_gang, types_.of(gang.type), mine.size() > 1, here.workers, here.ps,
                                         &here.gpus, gang.workers(), gang.ps()});
    }
  const UsualTimes &usual = network_->usual();
  const double own_s = usual.seconds(types_.of(gang.type), 60.0 * gang.time_limit_min);
  const int own_gpus = std::max(1, gang.gpus());
  for (const auto &[running, its] : neighbours) {
    const RewardJob job{types_.of(its.job->type), its.job->workers, its.job->ps, its.job->nodes,
                        static_cast<double>(its.job->model_kb)};
    rows_.clear();
    encoder_.append(job, its.before, rows_);
    const int between = rows_.count();
    encoder_.append(job, its.after, rows_);
    const double before = network_->slowest(rows_, 0, between).mean,
                 after = std::min<double>(before, network_->slowest(rows_, between, rows_.count()).mean);
    const double left_s = usual.seconds_left(job.type, its.job->started, its.job->ends, cluster.now(), before) / after;
    const double delay = std::min(own_s / predicted.speed, left_s) * (1 - after / before) / own_s;
    const double all_gpus = static_cast<double>(its.gpus) * its.job->nodes / static_cast<double>(its.before.size());
    predicted.lost += 1 - after / before;
    predicted.harm += (before / after - 1) * std::max(1, its.gpus) / own_gpus;
    predicted.delay += delay;
    predicted.gpu_delay += delay * std::max(1.0, all_gpus) / own_gpus;
  }
  // Sums in another order differ in the last digits.
  for (double *each : {&predicted.harm, &predicted.delay, &predicted.gpu_delay})
    *each = std::round(*each * 65536) / 65536;
}

Predicted NetworkReward::predict(const Cluster &cluster, const Gang &gang, const Plan &plan) const {
  std::map<int, Mine> by_node;
  for (const Placement &placement : plan.placements) {
    Mine &mine = by_node[placement.node];
    mine.node = placement.node;
    mine.workers += placement.workers;
    mine.ps += placement.ps;
    mine.gpus.join(placement.gpus);
  }
  std::vector<Mine> mine;
  std::vector<RewardPlace> places;
  for (auto &[node, here] : by_node) {
    places.push_back(place_of_gang(cluster, here));
    mine.push_back(std::move(here));
  }
  const RewardJob job{types_.of(gang.type), gang.workers(), gang.ps(), static_cast<int>(mine.size()),
                      static_cast<double>(gang.model_kb)};
  rows_.clear();
  encoder_.append(job, places, rows_);
  const int between = rows_.count();
  for (RewardPlace &place : places) place.beside.clear();
  encoder_.append(job, places, rows_);
  const Opinion opinion = network_->slowest(rows_, 0, between);
  Predicted predicted;
  predicted.speed = opinion.mean;
  predicted.doubt = opinion.deviation;
  predicted.alone = std::max(opinion.mean, network_->slowest(rows_, between, rows_.count()).mean);
  meet_neighbours(cluster, gang, mine, predicted);
  return predicted;
}

} // namespace harmony
