#include "src/plan/backfill.h"

#include "src/plan/fit.h"

#include <algorithm>
#include <optional>
#include <tuple>

namespace harmony {
namespace {

constexpr std::time_t overdue = 60; // a job beyond its limit is expected to end that soon

// What one task asks for; a PS needs no GPU, but may need a node that has one to offer.
struct Ask {
  int tasks = 0;
  int cpus = 1;
  int gpus = 0;
};

int suitable(const NodeState &node, const Bits &gpus, const std::string &model) {
  if (model.empty() || node.gpu_models.empty()) return gpus.count();
  int count = 0;
  for (const int gpu : each(gpus)) count += node.gpu_models[static_cast<std::size_t>(gpu)] == model;
  return count;
}

// A gang against nodes of which only the free CPUs and GPUs are counted: enough for "when", and cheap.
class Counting {
public:
  Counting(const Backfill::Nodes &nodes, const Gang &gang, const std::vector<Backfill::Promise> &promised)
      : nodes_(nodes), model_(gang.components.front().gpus.model) {
    for (const Component &component : gang.components) {
      if (component.workers) worker_ = {component.workers, component.cpus_per_task, gpus_per_worker(component)};
      if (component.ps) ps_ = {component.ps, component.cpus_per_task, least_free_gpus(component)};
    }
    free_.reserve(nodes.count());
    for (std::size_t i = 0; i < nodes.count(); ++i) free_.push_back(free_on(static_cast<int>(i), gang, promised));
    for (const Free &node : free_) workers_ += room(node);
  }

  void release(int node, const Tenant &tenant) {
    const auto at = static_cast<std::size_t>(node);
    Free &here = free_[at];
    if (here.barred) return;
    workers_ -= room(here);
    here.cpus += tenant.cores * nodes_[at].threads_per_core;
    here.gpus += suitable(nodes_[at], tenant.gpus, model_);
    workers_ += room(here);
  }

  // The nodes that it would take, those with most room first; nothing if it does not fit.
  std::optional<Bits> nodes() const {
    if (workers_ < worker_.tasks) return std::nullopt;
    std::vector<int> order(free_.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int>(i);
    std::stable_sort(order.begin(), order.end(), [this](int a, int b) {
      return room(free_[static_cast<std::size_t>(a)]) > room(free_[static_cast<std::size_t>(b)]);
    });
    Bits taken(static_cast<int>(free_.size()));
    int workers = worker_.tasks, ps = ps_.tasks;
    for (const int index : order) {
      const Free &here = free_[static_cast<std::size_t>(index)];
      if (here.barred) continue;
      const int put = std::min(workers, room(here));
      const int beside =
          here.gpus < ps_.gpus ? 0 : std::min(ps, (here.cpus - put * worker_.cpus) / std::max(1, ps_.cpus));
      if (put + beside <= 0) continue;
      taken.set(index);
      workers -= put;
      ps -= beside;
      if (workers == 0 && ps == 0) return taken;
    }
    return std::nullopt;
  }

private:
  struct Free {
    int cpus = 0, gpus = 0;
    bool barred = false;
  };

  Free free_on(int index, const Gang &gang, const std::vector<Backfill::Promise> &promised) const {
    const NodeState &node = nodes_[static_cast<std::size_t>(index)];
    Free here;
    here.barred = !node.usable || !gang.components.front().eligible.test(index);
    for (const Backfill::Promise &promise : promised) here.barred |= promise.nodes.test(index);
    here.cpus = node.free_cores.count() * node.threads_per_core;
    here.gpus = suitable(node, node.free_gpus, model_);
    return here;
  }

  int room(const Free &node) const {
    if (node.barred) return 0;
    const int by_cpus = node.cpus / std::max(1, worker_.cpus);
    return std::min(worker_.tasks, worker_.gpus ? std::min(by_cpus, node.gpus / worker_.gpus) : by_cpus);
  }

  const Backfill::Nodes &nodes_;
  const std::string &model_;
  Ask worker_, ps_;
  std::vector<Free> free_;
  int workers_ = 0; // that have room in all
};

} // namespace

std::time_t Backfill::end_of(const Gang &gang) const { return nodes_.now() + std::time_t{60} * gang.time_limit_min; }

void Backfill::sort_ends() {
  if (!releases_.empty()) return;
  for (std::size_t i = 0; i < nodes_.count(); ++i)
    for (std::size_t t = 0; t < nodes_[i].tenants.size(); ++t) {
      const Tenant &tenant = nodes_[i].tenants[t];
      releases_.push_back({std::max(nodes_.end_of(tenant), nodes_.now() + overdue), tenant.running, static_cast<int>(i),
                           static_cast<int>(t)});
    }
  std::sort(releases_.begin(), releases_.end(), [](const Release &a, const Release &b) {
    return std::tie(a.at, a.running, a.node) < std::tie(b.at, b.running, b.node);
  });
}

void Backfill::promise(const Gang &gang) {
  if (static_cast<int>(promises_.size()) >= most_promises_) return;
  sort_ends();
  Counting counting(nodes_, gang, promises_);
  for (std::size_t i = 0; i < releases_.size(); ++i) {
    const Release &release = releases_[i];
    const auto node = static_cast<std::size_t>(release.node);
    counting.release(release.node, nodes_[node].tenants[static_cast<std::size_t>(release.tenant)]);
    const bool all_of_it = i + 1 == releases_.size() || releases_[i + 1].running != release.running;
    if (!all_of_it) continue;
    if (auto nodes = counting.nodes()) {
      promises_.push_back({gang.job, release.at, std::move(*nodes)});
      return;
    }
  }
}

bool Backfill::may_start(const Gang &gang, const Plan &plan) const {
  for (const Promise &promise : promises_) {
    if (end_of(gang) <= promise.from) continue;
    for (const Placement &placement : plan.placements)
      if (promise.nodes.test(placement.node)) return false;
  }
  return true;
}

bool Backfill::concerns(const Gang &gang) const {
  return std::any_of(promises_.begin(), promises_.end(),
                     [this, &gang](const Promise &promise) { return end_of(gang) > promise.from; });
}

Bits Backfill::nodes_for(const Gang &gang, const Bits &eligible) const {
  Bits left = eligible;
  for (const Promise &promise : promises_)
    if (end_of(gang) > promise.from) left -= promise.nodes;
  return left;
}

} // namespace harmony
