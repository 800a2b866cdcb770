#include "src/sim/stock/choice.h"

#include <algorithm>
#include <functional>

namespace harmony {
namespace {

// The GPUs of one node while they are chosen.
class Picking {
public:
  explicit Picking(const StockNode &node) : node_(node), picked(node.free_gpus.size()) {
    for (int s = 0; s < node.sockets(); ++s) used_.push_back(node.cores_on(s) > 0);
  }

  bool free(int gpu) const { return node_.free_gpus.test(gpu) && !picked.test(gpu); }
  int count() const { return picked.count(); }

  // Slurm looks at GPUs of any socket first (-1), then socket by socket.
  bool on(int gpu, int socket) const {
    if (socket < 0) return node_.gpus_on_any_socket();
    return !node_.gpus_on_any_socket() && node_.wiring->near[static_cast<std::size_t>(socket)].test(gpu);
  }
  bool used(int socket) const { return used_[static_cast<std::size_t>(socket)]; }

  enum class Sockets { used, unused, all };
  // In Slurm's order, until there are `most` or `each_socket` of a socket; only those for which `good` holds.
  void pick(Sockets which, int most, int each_socket, const std::function<bool(int)> &good) {
    for (int s = -1; s < node_.sockets() && count() < most; ++s) {
      if (s >= 0 && which != Sockets::all && used(s) != (which == Sockets::used)) continue;
      if (s < 0 && which == Sockets::unused) continue;
      int here = 0;
      for (int gpu = 0; gpu < picked.size() && count() < most && here < each_socket; ++gpu)
        if (on(gpu, s) && free(gpu) && good(gpu)) {
          picked.set(gpu);
          ++here;
        }
    }
  }

  // How well each GPU is linked to those picked so far; scaled down as Slurm does.
  std::vector<int> links_to_picked() const {
    std::vector<int> sums(static_cast<std::size_t>(picked.size()));
    if (!node_.knows_links()) return sums;
    for (const int gpu : each(picked))
      for (int other = 0; other < picked.size(); ++other)
        if (other != gpu && node_.free_gpus.test(other))
          sums[static_cast<std::size_t>(other)] += node_.link(gpu, other);
    const int best = *std::max_element(sums.begin(), sums.end());
    if (best > 4)
      for (int &sum : sums) sum /= (best + 3) / 4;
    return sums;
  }

  // The best linked first, down to those not linked at all.
  void pick_linked(Sockets which, int most, const std::vector<int> &links) {
    const int best = links.empty() ? 0 : std::max(0, *std::max_element(links.begin(), links.end()));
    for (int l = best; l >= 0 && count() < most; --l)
      pick(which, most, picked.size(), [&](int gpu) { return links[static_cast<std::size_t>(gpu)] >= l; });
  }

  // Of those picked so many, around the first GPU that has the best link.
  void keep_best_linked(int most) {
    int best = -1, best_link = -1;
    for (const int gpu : each(picked))
      for (int other = picked.next(gpu + 1); other >= 0; other = picked.next(other + 1))
        if (node_.link(gpu, other) > best_link) {
          best_link = node_.link(gpu, other);
          best = gpu;
        }
    while (count() > most && best >= 0) {
      int worst = -1;
      for (const int gpu : each(picked))
        if (gpu != best && (worst < 0 || node_.link(best, gpu) < node_.link(best, worst))) worst = gpu;
      if (worst < 0) return;
      picked.clear(worst);
    }
  }

private:
  const StockNode &node_;
  std::vector<bool> used_; // sockets with cores of the job

public:
  Bits picked;
};

const auto any = [](int) { return true; };

// _set_job_bits1(). At least one GPU stays for each node after it.
void pick_of_job(const StockNode &node, Picking &gpus, int most) {
  const bool by_links = most > 1 && node.knows_links();
  const int all = gpus.picked.size();
  gpus.pick(Picking::Sockets::used, by_links ? all : most, all, any);
  if (gpus.count() == 0) gpus.pick(Picking::Sockets::unused, 1, 1, any);
  if (by_links && gpus.count() > most) gpus.keep_best_linked(most);
}

// _set_job_bits2(): beyond the sockets that it has cores of.
void add_of_job(const StockNode &node, Picking &gpus, int missing) {
  const int most = gpus.count() + missing;
  std::vector<int> links(static_cast<std::size_t>(gpus.picked.size()));
  const int first = gpus.picked.first();
  if (first >= 0 && node.knows_links())
    for (int gpu = 0; gpu < gpus.picked.size(); ++gpu) links[static_cast<std::size_t>(gpu)] = node.link(first, gpu);
  gpus.pick_linked(Picking::Sockets::all, most, links);
}

std::optional<std::vector<Bits>> by_job(const std::vector<StockNode> &nodes, const StockJob &job) {
  std::vector<Picking> picking;
  int found = 0, left = static_cast<int>(nodes.size());
  for (const StockNode &node : nodes) {
    picking.emplace_back(node);
    pick_of_job(node, picking.back(), job.gpus_per_job - found - (--left));
    found += picking.back().count();
  }
  for (std::size_t i = 0; i < nodes.size() && found < job.gpus_per_job; ++i) {
    const int before = picking[i].count();
    add_of_job(nodes[i], picking[i], job.gpus_per_job - found);
    found += picking[i].count() - before;
  }
  if (found < job.gpus_per_job) return std::nullopt;
  std::vector<Bits> all;
  for (Picking &one : picking) all.push_back(std::move(one.picked));
  return all;
}

// _set_node_bits(): one on each socket in use, more there, then others, by their links.
void pick_of_node(Picking &gpus, int most) {
  gpus.pick(Picking::Sockets::used, most, 1, any);
  const std::vector<int> links = gpus.links_to_picked();
  gpus.pick_linked(Picking::Sockets::used, most, links);
  gpus.pick_linked(Picking::Sockets::unused, most, links);
}

// _build_tasks_per_node_sock(): whole tasks by the cores of each socket, up to the node's.
std::vector<int> tasks_by_socket(const StockNode &node, int tasks) {
  std::vector<int> by_socket;
  for (int s = 0; s < node.sockets(); ++s) {
    // As there: a task a core (or thread), whatever it asked for.
    by_socket.push_back(std::min(tasks, node.cores_on(s) * node.threads));
    tasks -= by_socket.back();
  }
  return by_socket;
}

// _set_task_bits().
void pick_of_tasks(const StockNode &node, Picking &gpus, int tasks, int each_task) {
  const std::vector<int> by_socket = tasks_by_socket(node, tasks);
  int goal = 0;
  for (int s = 0; s < node.sockets(); ++s) {
    goal += by_socket[static_cast<std::size_t>(s)] * each_task;
    for (int gpu = 0; gpu < gpus.picked.size() && gpus.count() < goal; ++gpu)
      if (gpus.on(gpu, s) && gpus.free(gpu)) gpus.picked.set(gpu);
  }
  gpus.pick_linked(Picking::Sockets::all, goal, gpus.links_to_picked());
}

} // namespace

std::optional<std::vector<Bits>> stock_gpus(const std::vector<StockNode> &nodes, const std::vector<int> &tasks,
                                            const StockJob &job) {
  if (job.gpus_per_job && !job.gpus_per_task) return by_job(nodes, job);
  std::vector<Bits> all;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    Picking gpus(nodes[i]);
    if (job.gpus_per_node) pick_of_node(gpus, job.gpus_per_node);
    if (job.gpus_per_task) pick_of_tasks(nodes[i], gpus, tasks[i], job.gpus_per_task);
    all.push_back(std::move(gpus.picked));
  }
  return all;
}

} // namespace harmony
