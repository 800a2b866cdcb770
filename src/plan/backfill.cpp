#include "src/plan/backfill.h"

#include "src/plan/fit.h"

#include <algorithm>
#include <optional>
#include <tuple>

namespace harmony {
namespace {

constexpr int tries_a_promise = 4;  // in a round; a gang that nothing can be promised costs as much as others
constexpr std::time_t overdue = 60; // a job beyond its limit is expected to end that soon

// What the tasks of one role ask for; a PS needs no GPU, but may need a node that has one to offer.
struct Ask {
  const Component *of = nullptr;
  int tasks = 0;
  int cpus = 1;
  int gpus = 0;
  int gpus_a_node = 0;
};

int suitable(const NodeState &node, const Bits &gpus, const std::string &model) {
  int count = 0;
  for (const int gpu : each(gpus)) count += is_of_model(node, model, gpu);
  return count;
}

// A gang against nodes of which only the free CPUs and GPUs are counted: enough for "when", and cheap.
class Counting {
public:
  Counting(const Backfill::Nodes &nodes, const Gang &gang, const std::vector<Backfill::Promise> &promised)
      : nodes_(nodes) {
    for (const Component &component : gang.components) {
      if (component.workers)
        worker_ = {&component, component.workers, component.cpus_per_task, gpus_per_worker(component),
                   component.gpus.per_node};
      if (component.ps) ps_ = {&component, component.ps, component.cpus_per_task, least_free_gpus(component), 0};
    }
    if (worker_.of) model_ = worker_.of->gpus.model;
    free_.reserve(nodes.count());
    for (std::size_t i = 0; i < nodes.count(); ++i) free_.push_back(free_on(i, promised));
    for (const Free &node : free_) workers_ += room(node);
  }

  void release(int node, const Tenant &tenant) {
    const auto at = static_cast<std::size_t>(node);
    Free &here = free_[at];
    workers_ -= room(here);
    here.cpus += tenant.cores * nodes_[at].threads_per_core;
    here.gpus += suitable(nodes_[at], tenant.gpus, model_);
    --here.tenants;
    workers_ += room(here);
  }

  bool workers_have_room() const { return workers_ >= worker_.tasks; }

  // The nodes that it would take, those with most room first; nothing if it does not fit.
  std::optional<Bits> nodes() const {
    std::vector<int> order(free_.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int>(i);
    std::stable_sort(order.begin(), order.end(), [this](int a, int b) {
      return room(free_[static_cast<std::size_t>(a)]) > room(free_[static_cast<std::size_t>(b)]);
    });
    Bits taken(static_cast<int>(free_.size()));
    int workers = worker_.tasks, ps = ps_.tasks;
    for (const int index : order) {
      const Free &here = free_[static_cast<std::size_t>(index)];
      const int put = std::min(workers, room(here));
      const int beside = !here.for_ps || here.gpus < ps_.gpus
                             ? 0
                             : std::min(ps, (here.cpus - put * worker_.cpus) / std::max(1, ps_.cpus));
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
    int cpus = 0, gpus = 0, tenants = 0;
    bool for_workers = false, for_ps = false; // whether it may be used by them at all
  };

  Free free_on(std::size_t index, const std::vector<Backfill::Promise> &promised) const {
    const NodeState &node = nodes_[index];
    const int at = static_cast<int>(index);
    const bool free = node.usable && std::none_of(promised.begin(), promised.end(),
                                                  [at](const auto &promise) { return promise.nodes.test(at); });
    Free here;
    here.for_workers = free && worker_.of && worker_.of->eligible.test(at);
    here.for_ps = free && ps_.of && ps_.of->eligible.test(at);
    here.cpus = node.free_cores.count() * node.threads_per_core;
    here.gpus = suitable(node, node.free_gpus, model_);
    here.tenants = static_cast<int>(node.tenants.size());
    return here;
  }

  int room(const Free &node) const {
    if (!node.for_workers || node.gpus < worker_.gpus_a_node) return 0;
    if (worker_.of->whole_nodes && node.tenants > 0) return 0;
    int most = std::min(worker_.tasks, node.cpus / std::max(1, worker_.cpus));
    if (worker_.of->tasks_per_node) most = std::min(most, worker_.of->tasks_per_node);
    return worker_.gpus ? std::min(most, node.gpus / worker_.gpus) : most;
  }

  const Backfill::Nodes &nodes_;
  std::string model_; // of GPUs; empty: any
  Ask worker_, ps_;
  std::vector<Free> free_;
  int workers_ = 0; // that have room in all
};

// Of hetjobs with several parts of workers nothing is promised: when all of them would fit is not looked for.
bool is_understood(const Gang &gang) {
  const auto has_workers = [](const Component &component) { return component.workers > 0; };
  return std::count_if(gang.components.begin(), gang.components.end(), has_workers) == 1;
}

} // namespace

std::time_t Backfill::end_of(const Gang &gang) const { return nodes_.now() + std::time_t{60} * gang.time_limit_min; }

void Backfill::sort_ends() {
  if (sorted_ == nodes_.jobs()) return; // nothing started since
  sorted_ = nodes_.jobs();
  releases_.clear();
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
  if (static_cast<int>(promises_.size()) >= most_promises_ || tries_ >= tries_a_promise * most_promises_) return;
  if (!is_understood(gang)) return;
  ++tries_;
  sort_ends();
  Counting counting(nodes_, gang, promises_);
  int ends_to_pass = 0, failures = 0;
  for (std::size_t i = 0; i < releases_.size(); ++i) {
    const Release &release = releases_[i];
    const auto node = static_cast<std::size_t>(release.node);
    counting.release(release.node, nodes_[node].tenants[static_cast<std::size_t>(release.tenant)]);
    const bool last = i + 1 == releases_.size();
    if (!last && releases_[i + 1].running == release.running) continue; // all of a job at once
    if (!counting.workers_have_room() || (--ends_to_pass > 0 && !last)) continue;
    if (auto nodes = counting.nodes()) {
      promises_.push_back({gang.job, release.at, std::move(*nodes)});
      return;
    }
    ends_to_pass = 1 << std::min(20, failures++); // its PS do not fit: looked at again ever more rarely
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
