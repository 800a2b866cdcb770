#include "src/sim/stock/choice.h"

#include <algorithm>
#include <cstddef>
#include <limits>

namespace harmony {
namespace {

// One _eval_nodes(): nodes are taken from runs of neighbours of one weight, the lowest weight first, then the tightest
// run that does.
class Evaluation {
public:
  Evaluation(std::vector<StockNode> &nodes, std::vector<bool> &taken, StockJob &job, int max_nodes, bool first_pass)
      : nodes_(nodes), taken_(taken), job_(job), first_pass_(first_pass), max_nodes_(max_nodes) {}

  bool run(const std::vector<bool> &usable, const Bits &required) {
    usable_ = usable;
    if (std::count(usable_.begin(), usable_.end(), true) < job_.min_nodes) return false;
    job_.gpus_found = 0;
    cpus_ = most_cpus_ = job_.min_cpus;
    least_nodes_ = job_.min_nodes;
    nodes_left_ =
        job_.gpus_per_job ? std::min(job_.min_nodes, job_.wanted_nodes) : std::max(job_.min_nodes, job_.wanted_nodes);
    if (required.any() && !take_required(required)) return false;
    if (required.any() && done()) return true;
    if (max_nodes_ <= 0) return false;
    find_runs(required);
    bool found = false;
    while (max_nodes_ > 0 && !found) {
      Run *best = best_run();
      if (!best) break;
      take_from(*best);
      found = done();
      best->nodes = best->cpus = 0;
    }
    return found || (cpus_ <= 0 && gpus_do() && enough_nodes(0));
  }

private:
  struct Run {
    std::size_t first = 0, last = 0; // into nodes_
    int nodes = 0, cpus = 0, gpus = 0;
    int required = -1;
    std::uint64_t weight = 0;
  };

  bool gpus_do() const { return job_.gpus_found >= job_.gpus_per_job; }
  bool done() const { return nodes_left_ <= 0 && cpus_ <= 0 && gpus_do(); }
  bool enough_nodes(int nodes) const {
    const int needed =
        job_.wanted_nodes > job_.min_nodes ? nodes_left_ + job_.min_nodes - job_.wanted_nodes : nodes_left_;
    return nodes >= needed;
  }
  bool gpus_suffice(int more) const { return job_.gpus_per_job == 0 || job_.gpus_found + more >= job_.gpus_per_job; }

  bool take_required(const Bits &required) {
    if (required.count() > max_nodes_) return false;
    for (const int index : each(required)) {
      const auto found =
          std::find_if(nodes_.begin(), nodes_.end(), [index](const StockNode &node) { return node.index == index; });
      if (found == nodes_.end()) return false;
      const auto at = static_cast<std::size_t>(found - nodes_.begin());
      if (!usable_[at]) return false;
      found->offered = stock_filter(*found, job_, first_pass_);
      if (found->offered == 0) return false;
      take(at);
    }
    return true;
  }

  void find_runs(const Bits &required) {
    bool open = false;
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      StockNode &node = nodes_[i];
      const bool must = required.test(node.index);
      if (!usable_[i]) continue;
      if (!must) node.offered = stock_filter(node, job_, first_pass_);
      if (node.offered == 0) {
        usable_[i] = false;
        open = false;
        continue;
      }
      const bool follows = i > 0 && nodes_[i - 1].index == node.index - 1 && usable_[i - 1];
      if (!open || !follows || (runs_.back().nodes > 0 && runs_.back().weight != node.weight)) {
        runs_.emplace_back();
        runs_.back().first = i;
        open = true;
      }
      Run &run = runs_.back();
      run.last = i;
      if (must) {
        if (run.required < 0) run.required = static_cast<int>(i);
        continue;
      }
      run.weight = node.weight;
      ++run.nodes;
      run.cpus += node.offered;
      run.gpus += node.free_gpu_count();
    }
  }

  Run *best_run() {
    Run *best = nullptr;
    bool best_does = false;
    for (Run &run : runs_) {
      if (run.nodes == 0) continue;
      const bool does = run.cpus >= cpus_ && enough_nodes(run.nodes) && gpus_suffice(run.gpus);
      bool better = !best || (best->required < 0 && run.required >= 0) || run.weight < best->weight;
      if (!better && run.weight == best->weight)
        better = (does && !best_does) || (does && run.cpus < best->cpus) || (!does && run.cpus > best->cpus);
      if (!better) continue;
      best = &run;
      best_does = does;
    }
    return best;
  }

  // _cpus_to_use() and what follows it.
  void take(std::size_t at) {
    StockNode &node = nodes_[at];
    int cpus = node.offered;
    const int most = most_cpus_ - std::max(least_nodes_ - 1, 0) * node.threads;
    if (cpus > most) node.cpus = cpus = std::max(most, job_.cpus_per_node);
    node.resources = node.cpus + node.free_gpu_count();
    if (job_.gpus_per_job && cpus > 0) job_.gpus_found += node.free_gpu_count();
    cpus_ -= cpus;
    most_cpus_ -= cpus;
    --nodes_left_;
    --least_nodes_;
    --max_nodes_;
    taken_[at] = true;
  }

  // One node that has all that is missing, the tightest of those, if there is one.
  int single_node(const Run &run) const {
    int best = -1;
    for (std::size_t i = run.first; i <= run.last; ++i) {
      const StockNode &node = nodes_[i];
      if (taken_[i] || node.offered < cpus_ || !gpus_suffice(node.free_gpu_count())) continue;
      if (best < 0 || node.offered < nodes_[static_cast<std::size_t>(best)].offered) best = static_cast<int>(i);
      if (node.offered == cpus_) break;
    }
    return best;
  }

  void take_from(const Run &run) {
    if (run.required >= 0) {
      const auto from = static_cast<std::size_t>(run.required);
      for (std::size_t i = from; i <= run.last && max_nodes_ > 0 && !done(); ++i)
        if (!taken_[i]) take(i);
      for (std::size_t i = from; i-- > run.first && max_nodes_ > 0 && !done();)
        if (!taken_[i]) take(i);
      return;
    }
    const int single = nodes_left_ <= 1 ? single_node(run) : -1;
    for (std::size_t i = run.first; i <= run.last && max_nodes_ > 0 && !done(); ++i) {
      if (taken_[i] || (single >= 0 && static_cast<int>(i) != single)) continue;
      if (max_nodes_ == 1 && nodes_[i].offered < cpus_) continue;
      take(i);
    }
  }

  std::vector<StockNode> &nodes_;
  std::vector<bool> &taken_;
  StockJob &job_;
  const bool first_pass_;
  int max_nodes_;
  std::vector<bool> usable_;
  std::vector<Run> runs_;
  int cpus_ = 0, most_cpus_ = 0; // still wanted, and at most
  int nodes_left_ = 0, least_nodes_ = 0;
};

// Several tries, each with fewer of the nodes.
class Choosing {
public:
  Choosing(std::vector<StockNode> nodes, StockJob job, const Bits &required)
      : nodes_(std::move(nodes)), job_(job), required_(required), usable_(nodes_.size(), true) {
    if (job_.tasks_per_node)
      job_.min_nodes = std::max(job_.min_nodes, (job_.tasks + job_.tasks_per_node - 1) / job_.tasks_per_node);
    max_nodes_ = job_.max_nodes ? job_.max_nodes : std::numeric_limits<int>::max();
    if (max_nodes_ > job_.tasks) max_nodes_ = std::max(job_.tasks, job_.min_nodes);
  }

  bool run() {
    if (evaluate(true)) return true;
    int left = static_cast<int>(nodes_.size());
    if (left <= job_.min_nodes) return evaluate(false);
    int most = 0;
    for (const StockNode &node : nodes_) most = std::max(most, node.resources);
    for (int count = 1; count < most; ++count) {
      bool changed = false;
      for (std::size_t i = 0; i < nodes_.size(); ++i) {
        const int has = nodes_[i].resources;
        if (!usable_[i] || has <= 0 || has > count || required_.test(nodes_[i].index)) continue;
        usable_[i] = false;
        changed = true;
        if (--left <= job_.min_nodes) break;
      }
      if (!changed && count != 1) continue;
      if (evaluate(false)) return true;
      if (left <= job_.min_nodes) return false;
    }
    return false;
  }

  std::vector<StockNode> taken() {
    std::vector<StockNode> chosen;
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      if (!taken_[i]) continue;
      if (job_.with_gpus()) nodes_[i].cpus = std::min(nodes_[i].cpus, nodes_[i].cores.count() * nodes_[i].threads);
      chosen.push_back(std::move(nodes_[i]));
    }
    return chosen;
  }

private:
  bool evaluate(bool first_pass) {
    taken_.assign(nodes_.size(), false);
    for (StockNode &node : nodes_) node.cores = node.free_cores;
    return Evaluation(nodes_, taken_, job_, max_nodes_, first_pass).run(usable_, required_);
  }

  std::vector<StockNode> nodes_;
  StockJob job_;
  const Bits &required_;
  std::vector<bool> usable_, taken_;
  int max_nodes_ = 0;
};

} // namespace

std::optional<std::vector<StockNode>> stock_choose_nodes(std::vector<StockNode> nodes, StockJob job,
                                                         const Bits &required) {
  if (static_cast<int>(nodes.size()) < job.min_nodes) return std::nullopt;
  Choosing choosing(std::move(nodes), job, required);
  if (!choosing.run()) return std::nullopt;
  return choosing.taken();
}

} // namespace harmony
