#include "src/sim/stock/choice.h"

#include <algorithm>

namespace harmony {
namespace {

// dist_tasks_compute_c_b(): one task on each node, then in turns.
class Dealing {
public:
  Dealing(const std::vector<StockNode> &nodes, const StockJob &job)
      : nodes_(nodes), job_(job), tasks(nodes.size()), cpus(nodes.size()) {
    const int hosts = static_cast<int>(nodes.size());
    const int all = std::max({hosts * std::max(1, job.tasks_per_node), job.min_cpus, hosts * job.cpus_per_node});
    left_ =
        std::max(1, job.tasks_per_node && job.cpus_per_task > 1 ? job.tasks_per_node * hosts : all / job.cpus_per_task);
  }

  void run() {
    for (std::size_t i = 0; i < nodes_.size() && left_ > 0; ++i)
      if (nodes_[i].cpus > 0) give(i);
    while (left_ > 0) {
      bool given = false;
      for (std::size_t i = 0; i < nodes_.size() && left_ > 0; ++i)
        for (int turn = std::max(1, nodes_[i].threads / job_.cpus_per_task); turn > 0 && left_ > 0 && takes(i);
             --turn) {
          give(i);
          given = true;
        }
      if (!given) {
        // Slurm gives tasks beyond the CPUs rather than none.
        for (std::size_t i = 0; i < nodes_.size() && left_ > 0; ++i) give(i);
      }
    }
  }

private:
  bool takes(std::size_t i) const {
    if (nodes_[i].cpus - cpus[i] < job_.cpus_per_task) return false;
    if (job_.gpus_per_task && tasks[i] >= nodes_[i].free_gpu_count() / job_.gpus_per_task) return false;
    return !job_.tasks_per_node || tasks[i] < job_.tasks_per_node;
  }
  void give(std::size_t i) {
    --left_;
    ++tasks[i];
    cpus[i] = std::min(nodes_[i].cpus, cpus[i] + job_.cpus_per_task);
  }

  const std::vector<StockNode> &nodes_;
  const StockJob &job_;
  int left_ = 0;

public:
  std::vector<int> tasks, cpus;
};

// _cyclic_sync_core_bitmap(): tasks of several CPUs fill one socket after another, others take sockets in turns.
void keep_cores(StockNode &node, int cpus, int cpus_per_task) {
  std::vector<int> next, end;
  for (int s = 0; s < node.sockets(); ++s) {
    next.push_back(node.core(s, 0));
    end.push_back(node.core(s + 1, 0));
  }
  Bits kept(node.cores.size());
  const auto sockets = static_cast<std::size_t>(node.sockets());
  for (std::size_t s = 0; cpus_per_task > 1 && s < sockets && cpus > 0; ++s) {
    int here = node.cores_on(static_cast<int>(s)) * node.threads;
    here -= here % cpus_per_task;
    for (; next[s] < end[s] && here > 0 && cpus > 0; ++next[s]) {
      if (!node.cores.test(next[s])) continue;
      kept.set(next[s]);
      here -= node.threads;
      cpus -= node.threads;
    }
  }
  for (bool any = true; cpus > 0 && any;) {
    any = false;
    for (std::size_t s = 0; s < sockets && cpus > 0; ++s) {
      while (next[s] < end[s] && !node.cores.test(next[s])) ++next[s];
      if (next[s] == end[s]) continue;
      kept.set(next[s]++);
      cpus -= node.threads;
      any = true;
    }
  }
  node.cores = kept;
}

} // namespace

std::vector<int> stock_tasks(std::vector<StockNode> &nodes, const StockJob &job) {
  Dealing dealing(nodes, job);
  dealing.run();
  for (std::size_t i = 0; i < nodes.size(); ++i) keep_cores(nodes[i], dealing.cpus[i], job.cpus_per_task);
  return dealing.tasks;
}

} // namespace harmony
