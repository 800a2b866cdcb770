// Every way to place a gang, up to symmetry: empty nodes alike that follow each other are not told apart, nor are the
// GPUs below one domain. Only for gangs of one component, and only as long as there are few ways.

#include "src/plan/choose_gpus.h"
#include "src/plan/fit.h"
#include "src/policy/diverse.h"
#include "src/policy/policies.h"
#include "src/sim/oracle/oracle.h"
#include "src/sim/oracle/oracle_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

namespace harmony {
namespace {

// One way to use one node; no tasks: not at all.
struct Option {
  int workers = 0, ps = 0;
  Placement placement;
};

bool alike(const NodeState &one, const NodeState &other) {
  return one.tenants.empty() && other.tenants.empty() && one.topology == other.topology &&
         one.free_gpus == other.free_gpus && one.free_cores == other.free_cores && one.weight == other.weight &&
         one.gpu_models == other.gpu_models && one.free_memory_mb == other.free_memory_mb;
}

class Enumeration {
public:
  Enumeration(const Cluster &cluster, const Component &component) : cluster_(cluster), component_(component) {}

  // Nothing if there are too many.
  std::optional<std::vector<Plan>> all() {
    for (int i = 0; i < cluster_.size(); ++i) {
      if (!component_.eligible.test(i)) continue;
      find_options(i);
      if (options_.back().size() == 1) {
        options_.pop_back();
        nodes_.pop_back();
      }
    }
    chosen_.assign(nodes_.size(), 0);
    extend(0, component_.workers, component_.ps);
    if (too_many_) return std::nullopt;
    return std::move(plans_);
  }

private:
  void find_options(int index) {
    nodes_.push_back(index);
    options_.emplace_back(1);
    const NodeState &node = cluster_.node(index);
    for (int workers = 0; workers <= component_.workers; ++workers)
      for (int ps = workers ? 0 : 1; ps <= component_.ps && !too_many_; ++ps) {
        if (!fits(node, component_, workers, ps, cluster_.memory_counts())) break;
        add_option(index, workers, ps, {});
        if (gpu_topology(node) && workers && gpus_per_worker(component_) && !component_.gpus.per_node) {
          std::vector<int> split(node.topology->domains.size());
          split_workers(index, workers, ps, 0, split);
        }
      }
  }

  // The workers among the domains in all ways.
  void split_workers(int index, int workers, int ps, std::size_t domain, std::vector<int> &split) {
    if (too_many_) return;
    if (domain == split.size()) {
      if (workers == 0) add_option(index, -1, ps, split);
      return;
    }
    for (split[domain] = 0; split[domain] <= workers; ++split[domain])
      split_workers(index, workers - split[domain], ps, domain + 1, split);
    split[domain] = 0;
  }

  void add_option(int index, int workers, int ps, const std::vector<int> &split) {
    if (++tried_ > most_placements * 4) too_many_ = true;
    if (workers < 0) {
      workers = 0;
      for (const int each : split) workers += each;
    }
    auto placement = arrange(cluster_.node(index), index, component_, workers, ps, cluster_.memory_counts(), split);
    if (!placement) return;
    auto &options = options_.back();
    const bool known = std::any_of(options.begin(), options.end(), [&](const Option &other) {
      return other.workers == workers && other.ps == ps && other.placement.gpus == placement->gpus;
    });
    if (!known) options.push_back({workers, ps, std::move(*placement)});
  }

  void extend(std::size_t at, int workers, int ps) {
    if (too_many_) return;
    if (workers == 0 && ps == 0) {
      keep();
      return;
    }
    if (at == nodes_.size()) return;
    if (++tried_ > most_placements * 64) too_many_ = true;
    // Of nodes alike the first has the later option, so that each choice is looked at once.
    const bool like_before = at > 0 && alike(cluster_.node(nodes_[at - 1]), cluster_.node(nodes_[at]));
    const std::size_t most = like_before ? chosen_[at - 1] + 1 : options_[at].size();
    for (std::size_t i = 0; i < std::min(most, options_[at].size()); ++i) {
      const Option &option = options_[at][i];
      if (option.workers > workers || option.ps > ps) continue;
      chosen_[at] = i;
      extend(at + 1, workers - option.workers, ps - option.ps);
    }
    chosen_[at] = 0;
  }

  void keep() {
    Plan plan;
    for (std::size_t i = 0; i < nodes_.size(); ++i)
      if (chosen_[i]) plan.placements.push_back(options_[i][chosen_[i]].placement);
    const int used = static_cast<int>(plan.placements.size());
    if (used < component_.min_nodes || (component_.max_nodes && used > component_.max_nodes)) return;
    for (const int node : each(component_.required))
      if (std::none_of(plan.placements.begin(), plan.placements.end(),
                       [node](const Placement &one) { return one.node == node; }))
        return;
    if (static_cast<int>(plans_.size()) == most_placements)
      too_many_ = true;
    else
      plans_.push_back(std::move(plan));
  }

  const Cluster &cluster_;
  const Component &component_;
  std::vector<int> nodes_;
  std::vector<std::vector<Option>> options_; // by entry of nodes_; the first is not to use it
  std::vector<std::size_t> chosen_;
  std::vector<Plan> plans_;
  int tried_ = 0;
  bool too_many_ = false;
};

class OracleExhaustive : public Policy {
public:
  explicit OracleExhaustive(const Truth &rules) : model_(rules), greedy_(make_oracle_greedy(rules)) {}
  const char *name() const override { return "oracle-exhaustive"; }

  Proposal propose(const Cluster &cluster, const Gang &gang, bool may_wait) const override {
    std::optional<std::vector<Plan>> plans;
    if (gang.components.size() == 1) plans = Enumeration(cluster, gang.components.front()).all();
    Proposal greedy = greedy_->propose(cluster, gang, may_wait);
    if (!plans || plans->empty() || greedy.verdict != Verdict::place) return greedy;
    // What greedy found is among the candidates, in case it is of a kind that was not enumerated.
    plans->push_back(std::move(greedy.plan));
    std::vector<Considered> best;
    for (Plan &plan : *plans) {
      const Predicted predicted = model_.predict(cluster, gang, plan);
      const double score = std::round((predicted.speed - predicted.lost) * 1e6) / 1e6;
      if (!best.empty() && score <= best.front().score) continue;
      best = {{std::move(plan), score,
               fmt::format("speed {:.2f}, neighbours lose {:.2f}", predicted.speed, predicted.lost)}};
    }
    return place_at(std::move(best), fmt::format("the best of all {} ways", plans->size() - 1));
  }

private:
  const TrueModel model_;
  const std::unique_ptr<Policy> greedy_;
};

} // namespace

std::unique_ptr<Policy> make_oracle_exhaustive(const Truth &rules) { return std::make_unique<OracleExhaustive>(rules); }

} // namespace harmony
