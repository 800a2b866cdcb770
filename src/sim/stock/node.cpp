#include "src/sim/stock/node.h"

#include "src/plan/choose_gpus.h"
#include "src/plan/fit.h"

#include <algorithm>
#include <numeric>

namespace harmony {
namespace {

void wire(const Topology &topology, StockWiring &wiring) {
  const int gpus = wiring.gpus;
  wiring.links.assign(static_cast<std::size_t>(gpus * gpus), 0);
  const auto at = [&](int one, int other) -> int & {
    return wiring.links[static_cast<std::size_t>(one * gpus + other)];
  };
  for (int i = 0; i < gpus; ++i) at(i, i) = -1;
  for (const Link &link : topology.links)
    if (link.first < gpus && link.second < gpus) at(link.first, link.second) = at(link.second, link.first) = link.count;
  if (wiring.sockets == 1) return;
  wiring.near.assign(static_cast<std::size_t>(wiring.sockets), Bits(gpus));
  for (int i = 0; i < gpus; ++i) {
    const int domain = topology.gpus[static_cast<std::size_t>(i)].domain;
    const int numa = topology.domains[static_cast<std::size_t>(domain)].numa;
    const int socket = topology.numa[static_cast<std::size_t>(numa)].socket;
    wiring.near[static_cast<std::size_t>(std::clamp(socket, 0, wiring.sockets - 1))].set(i);
  }
}

// gres_select_filter_remove_unusable(): whether the GPUs do, and how many are on sockets with free cores.
bool count_gpus(const StockJob &job, StockNode &node, int &near) {
  const int least = std::max({1, job.gpus_per_node, job.gpus_per_task});
  const int all = node.free_gpu_count();
  if (all < least) return false;
  near = all;
  for (int s = 0; !node.gpus_on_any_socket() && s < node.sockets(); ++s)
    if (node.cores_on(s) == 0) near -= node.free_near(s);
  node.most_gpus = job.gpus_per_node ? job.gpus_per_node : job.gpus_per_job;
  if (node.most_gpus) near = std::min(near, node.most_gpus);
  return true;
}

int cpus_by_memory(const NodeState &state, const Component &component, const StockNode &node, int cpus) {
  if (component.memory_per_node_mb) return component.memory_per_node_mb > state.free_memory_mb ? 0 : cpus;
  if (!component.memory_per_cpu_mb) return cpus;
  while (cpus > 0 && component.memory_per_cpu_mb * static_cast<std::uint64_t>(cpus) > state.free_memory_mb)
    cpus = cpus >= node.threads ? cpus - node.threads : 0;
  return cpus - cpus % std::max(1, component.cpus_per_task);
}

// The state of one gres_select_filter_sock_core().
struct Filter {
  Filter(StockNode &of_node, int cpus_offered)
      : node(of_node), cpus(cpus_offered), needed(static_cast<std::size_t>(of_node.sockets()), false) {
    for (int s = 0; s < node.sockets(); ++s) on.push_back(node.cores_on(s));
  }

  StockNode &node;
  int cpus;
  std::vector<bool> needed; // sockets
  std::vector<int> on;      // cores by socket

  int all() const { return std::accumulate(on.begin(), on.end(), 0); }

  // The last core of the socket; false if there is none.
  bool drop_core(int socket) {
    for (int c = node.wiring->cores_per_socket - 1; c >= 0; --c) {
      const int core = node.core(socket, c);
      if (!node.cores.test(core)) continue;
      node.cores.clear(core);
      if (node.cores.count() * node.threads < cpus) cpus -= node.threads;
      --on[static_cast<std::size_t>(socket)];
      return true;
    }
    return false;
  }

  // Sockets with most cores first; GPUs that they have together. Counts them only as far as cores go with them.
  int find_needed(const StockJob &job, int most_gpus, int least_cores, bool first_pass) {
    std::vector<int> order(static_cast<std::size_t>(node.sockets()));
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [this](int a, int b) {
      return on[static_cast<std::size_t>(a)] > on[static_cast<std::size_t>(b)];
    });
    const int anywhere = node.gpus_on_any_socket() ? node.free_gpu_count() : 0;
    int found = anywhere;
    bool enough = false;
    for (const int s : order) {
      const int here = node.gpus_on_any_socket() ? 0 : node.free_near(s);
      if (anywhere + here == 0 && first_pass)
        while (all() > least_cores && drop_core(s)) {
        }
      if (first_pass && on[static_cast<std::size_t>(s)] == 0) continue;
      found += here;
      if (!enough) needed[static_cast<std::size_t>(s)] = true;
      enough |=
          anywhere == 0 && ((most_gpus && found >= most_gpus) || (job.gpus_per_node && found >= job.gpus_per_node));
    }
    return found;
  }

  void drop_beyond(int cores, bool first_pass) {
    for (int s = 0; s < node.sockets(); ++s)
      if (!needed[static_cast<std::size_t>(s)])
        while ((first_pass || all() > cores) && drop_core(s)) {
        }
    while (all() > cores) {
      int fullest = -1;
      for (int s = 0; s < node.sockets(); ++s)
        if (needed[static_cast<std::size_t>(s)] && on[static_cast<std::size_t>(s)] > 0 &&
            (fullest < 0 || on[static_cast<std::size_t>(fullest)] < on[static_cast<std::size_t>(s)]))
          fullest = s;
      if (fullest < 0 || !drop_core(fullest)) return;
    }
  }
};

// The most tasks of the job on the node, fewer if it has not the GPUs or cores.
int filter_by_gpus(Filter &filter, const StockJob &job, int least_tasks, int most_tasks, bool first_pass) {
  const StockNode &node = filter.node;
  const int missing = std::max(0, job.gpus_per_job - job.gpus_found);
  int most_gpus = node.most_gpus;
  if (most_gpus && missing && missing < most_gpus) most_gpus = missing;
  if (most_gpus && job.gpus_per_node > most_gpus) return 0;
  const auto cores_for = [&](int tasks) { return (tasks * job.cpus_per_task + node.threads - 1) / node.threads; };
  const int found = filter.find_needed(job, most_gpus, cores_for(std::max(1, least_tasks)), first_pass);
  if (found == 0 || job.gpus_per_node > found || job.gpus_per_task > found) return 0;
  int tasks = most_tasks;
  if (job.gpus_per_task) tasks = std::min(tasks, found / job.gpus_per_task);
  tasks = tasks / least_tasks * least_tasks;
  if (tasks == 0) return 0;
  int available = 0;
  for (int s = 0; s < node.sockets(); ++s)
    if (!first_pass || filter.needed[static_cast<std::size_t>(s)]) available += filter.on[static_cast<std::size_t>(s)];
  while (tasks >= least_tasks && cores_for(tasks) > available) --tasks;
  if (cores_for(tasks) > available) return 0;
  filter.drop_beyond(cores_for(tasks), first_pass);
  return tasks;
}

} // namespace

StockJob::StockJob(const Component &component)
    : tasks(component.tasks()), cpus_per_task(std::max(1, component.cpus_per_task)), min_cpus(tasks * cpus_per_task),
      cpus_per_node(cpus_per_task * std::max(1, component.tasks_per_node)), tasks_per_node(component.tasks_per_node),
      min_nodes(std::max(1, component.min_nodes)), max_nodes(component.max_nodes),
      wanted_nodes(max_nodes ? max_nodes : min_nodes),
      gpus_per_job(component.gpus.per_task ? tasks * component.gpus.per_task : component.gpus.per_job),
      gpus_per_task(component.gpus.per_task), gpus_per_node(component.gpus.per_node) {}

std::shared_ptr<const StockWiring> stock_wiring(const NodeState &state) {
  auto made = std::make_shared<StockWiring>();
  const int cores = state.free_cores.size();
  const Topology *topology = gpu_topology(state);
  made->sockets = topology && topology->sockets > 0 && cores % topology->sockets == 0 ? topology->sockets : 1;
  made->cores_per_socket = std::max(1, cores / made->sockets);
  made->gpus = state.free_gpus.size();
  if (topology) wire(*topology, *made);
  return made;
}

int StockNode::free_near(int socket) const {
  int count = 0;
  for (const int gpu : each(wiring->near[static_cast<std::size_t>(socket)])) count += free_gpus.test(gpu);
  return count;
}

int StockNode::cores_on(int socket) const {
  int count = 0;
  for (int c = 0; c < wiring->cores_per_socket; ++c) count += cores.test(core(socket, c));
  return count;
}

int StockNode::link(int one, int other) const {
  return wiring->links[static_cast<std::size_t>(one * wiring->gpus + other)];
}

bool stock_node(const NodeState &state, int index, const Component &component, const StockJob &job, bool memory_counts,
                const std::shared_ptr<const StockWiring> &wiring, bool all_cores, StockNode &node) {
  if (!state.usable || state.whole_taken || !component.eligible.test(index)) return false;
  if (job.with_gpus() && !state.free_gpus.any()) return false;
  node.index = index;
  node.wiring = wiring;
  node.free_cores = state.free_cores;
  if (all_cores) node.free_cores.set_all();
  node.cores = node.free_cores;
  node.threads = std::max(1, state.threads_per_core);
  node.cpus = node.cores.count() * node.threads;
  int tasks = std::max(1, job.tasks_per_node);
  if (job.max_nodes == 1 && !job.tasks_per_node) tasks = job.tasks;
  if (node.cpus < std::max(tasks * job.cpus_per_task, job.cpus_per_node) || node.cpus == 0) return false;
  node.weight = static_cast<std::uint64_t>(state.weight) << 8;
  int near = 0;
  if (job.with_gpus()) {
    node.free_gpus = suitable_gpus(state, component);
    if (!count_gpus(job, node, near)) return false;
    node.weight |= static_cast<std::uint64_t>(0xff - std::min(near, 0xff));
  }
  if (memory_counts) node.cpus = cpus_by_memory(state, component, node, node.cpus);
  node.resources = node.cpus + (job.with_gpus() ? node.free_gpu_count() : 0);
  return node.cpus > 0;
}

int stock_filter(StockNode &node, const StockJob &job, bool first_pass) {
  int least = 1, most = node.cpus / job.cpus_per_task;
  if (job.tasks_per_node)
    least = job.tasks_per_node;
  else if (job.max_nodes == 1)
    least = job.tasks;
  const bool one_each = job.tasks == 1 || (job.tasks == job.min_nodes && job.tasks == job.max_nodes);
  if (most < least) return 0;
  if (job.tasks_per_node || job.max_nodes == 1 || one_each) most = least;
  if (!job.with_gpus()) return node.cpus;
  Filter filter(node, node.cpus);
  const int tasks = filter_by_gpus(filter, job, least, most, first_pass);
  return tasks == 0 ? 0 : std::min(filter.cpus, tasks * job.cpus_per_task);
}

} // namespace harmony
