#include "src/plan/fit.h"

#include "src/plan/choose_cores.h"
#include "src/plan/choose_gpus.h"

#include <algorithm>
#include <cstdint>
#include <limits>

namespace harmony {

bool is_of_model(const NodeState &node, const std::string &model, int gpu) {
  if (model.empty()) return true;
  const auto index = static_cast<std::size_t>(gpu);
  return index < node.gpu_models.size() && node.gpu_models[index] == model;
}

namespace {

// Numbers of a job script can be anything: too large to count means too large to fit.
int saturated(std::int64_t number) {
  return static_cast<int>(std::min<std::int64_t>(number, std::numeric_limits<int>::max()));
}

std::uint64_t saturated_product(std::uint64_t one, std::uint64_t other) {
  std::uint64_t product = 0;
  return __builtin_mul_overflow(one, other, &product) ? std::numeric_limits<std::uint64_t>::max() : product;
}

int threads(const NodeState &node) { return std::max(node.threads_per_core, 1); }

// The tasks that hold GPUs: of a --gpus-per-node job its workers, or PS without any.
int gpu_holders(const Component &component, int workers, int ps) {
  if (component.gpus.per_node > 0) return workers > 0 ? workers : ps;
  return (gpus_per_worker(component) > 0 ? workers : 0) + (gpus_per_ps(component) > 0 ? ps : 0);
}

// Without an allocation: asked for every node and every gang. Stops counting at `enough`.
int count_suitable_gpus(const NodeState &node, const Component &component, int enough) {
  int count = 0;
  for (int gpu = node.free_gpus.first(); gpu >= 0 && count < enough; gpu = node.free_gpus.next(gpu + 1))
    if (is_of_model(node, component.gpus.model, gpu) && !is_lost(node, gpu)) ++count;
  return count;
}

int count_gpus_of_model(const NodeState &node, const Component &component) {
  int count = 0;
  for (int gpu = 0; gpu < node.free_gpus.size(); ++gpu)
    if (is_of_model(node, component.gpus.model, gpu) && !is_lost(node, gpu)) ++count;
  return count;
}

std::uint64_t memory_needed_mb(const NodeState &node, const Component &component, int workers, int ps) {
  if (component.memory_per_cpu_mb > 0) {
    const auto cores = static_cast<std::uint64_t>(cores_needed(node, component, workers, ps));
    return saturated_product(component.memory_per_cpu_mb, cores * static_cast<std::uint64_t>(threads(node)));
  }
  if (component.memory_per_gpu_mb > 0)
    return saturated_product(component.memory_per_gpu_mb,
                             static_cast<std::uint64_t>(gpus_needed(component, workers, ps)));
  return component.memory_per_node_mb;
}

bool is_untouched(const NodeState &node) {
  if (!node.tenants.empty()) return false;
  for (int gpu = 0; gpu < node.free_gpus.size(); ++gpu)
    if (!node.free_gpus.test(gpu) && !is_lost(node, gpu)) return false;
  return true;
}

bool is_open_to(const NodeState &node, const Component &component) {
  if (node.name.empty() || !node.usable || node.whole_taken) return false;
  return !component.whole_nodes || is_untouched(node);
}

using GpusByTask = std::vector<std::vector<int>>;

// What a node has to give, counted once for all the numbers of tasks that are tried.
struct Room {
  int cores = 0;
  int gpus = 0;
  std::uint64_t memory_mb = std::numeric_limits<std::uint64_t>::max();
};

Room room_on(const NodeState &node, const Component &component, int enough_gpus, bool memory_counts) {
  Room room;
  room.cores = node.free_cores.count();
  room.gpus = count_suitable_gpus(node, component, std::max(enough_gpus, least_free_gpus(component)));
  if (memory_counts) room.memory_mb = node.free_memory_mb;
  return room;
}

bool holds(const Room &room, const NodeState &node, const Component &component, int workers, int ps) {
  if (component.tasks_per_node > 0 && std::int64_t{workers} + ps > component.tasks_per_node) return false;
  if (room.gpus < least_free_gpus(component)) return false;
  return gpus_needed(component, workers, ps) <= room.gpus && cores_needed(node, component, workers, ps) <= room.cores &&
         memory_needed_mb(node, component, workers, ps) <= room.memory_mb;
}

// The most of one role for which `holds(number)`, which more of them never make true again; `least` holds.
template <class Holds> int most_that(int least, int most, Holds holds) {
  while (least < most) {
    const int middle = most - (most - least) / 2;
    if (holds(middle))
      least = middle;
    else
      most = middle - 1;
  }
  return least;
}

Bits right_below(const Topology *topology, int domain, const Bits &gpus) {
  Bits found(gpus.size());
  if (!topology) return found;
  for (const int gpu : each(gpus))
    if (topology->gpus[static_cast<std::size_t>(gpu)].domain == domain) found.set(gpu);
  return found;
}

// Of workers whose domains are given, then of the tasks that may be anywhere.
std::optional<GpusByTask> gpus_by_domain(const NodeState &node, Bits suitable, const std::vector<int> &workers_in,
                                         int workers, int holders, int gpus_per_task) {
  GpusByTask chosen;
  Bits free = node.free_gpus;
  const auto take = [&](const Bits &from, int tasks) {
    for (std::vector<int> &gpus : choose_gpus(node, free, from, tasks, gpus_per_task)) {
      for (const int gpu : gpus) {
        suitable.clear(gpu);
        free.clear(gpu);
      }
      chosen.push_back(std::move(gpus));
    }
  };
  for (std::size_t domain = 0; domain < workers_in.size(); ++domain) {
    const int wanted = workers_in[domain];
    if (wanted == 0) continue;
    const Bits here = right_below(gpu_topology(node), static_cast<int>(domain), suitable);
    if (wanted < 0 || wanted > workers || std::int64_t{wanted} * gpus_per_task > here.count()) return std::nullopt;
    workers -= wanted;
    holders -= wanted;
    take(here, wanted);
  }
  take(suitable, holders);
  std::sort(chosen.begin(), chosen.end());
  return chosen;
}

// The GPUs of each task that holds some.
std::optional<GpusByTask> gpus_by_task(const NodeState &node, const Component &component, int workers, int ps,
                                       const std::vector<int> &workers_in) {
  const int holders = gpu_holders(component, workers, ps), all = gpus_needed(component, workers, ps);
  if (holders == 0) return GpusByTask();
  const Bits suitable = suitable_gpus(node, component);
  if (all % holders == 0 && !workers_in.empty())
    return gpus_by_domain(node, suitable, workers_in, workers, holders, all / holders);
  if (all % holders == 0) return choose_gpus(node, suitable, holders, all / holders);

  // Of --gpus-per-node only, and not an equal number for each: who uses which is the job's affair, so they are merely
  // near each other.
  const GpusByTask singles = choose_gpus(node, suitable, all, 1);
  GpusByTask shares(static_cast<std::size_t>(holders));
  for (std::int64_t i = 0; i < std::max(all, holders); ++i)
    shares[static_cast<std::size_t>(all > holders ? i * holders / all : i)].push_back(
        singles[static_cast<std::size_t>(all > holders ? i : i * all / holders)].front());
  return shares;
}

std::vector<TaskShare> shares_of(const NodeState &node, const Component &component, int workers, int ps,
                                 const GpusByTask &gpus) {
  std::vector<TaskShare> shares;
  int cores = 0;
  for (int task = 0; task < workers + ps; ++task) {
    // Tasks may share the threads of a core: then one of them brings it along and the next takes none.
    const int with_it = cores_needed(node, component, task + 1, 0);
    const auto index = static_cast<std::size_t>(task);
    shares.push_back({with_it - cores, index < gpus.size() ? gpus[index] : std::vector<int>()});
    cores = with_it;
  }
  return shares;
}

} // namespace

int gpus_per_worker(const Component &component) {
  if (component.gpus.per_task > 0) return component.gpus.per_task;
  if (component.gpus.per_job > 0 && component.workers > 0) return component.gpus.per_job / component.workers;
  return 0;
}

int gpus_per_ps(const Component &component) { return std::max(component.gpus.per_task, 0); }

int least_free_gpus(const Component &component) { return component.gpus.per_job > 0 ? 1 : 0; }

int gpus_needed(const Component &component, int workers, int ps) {
  const std::int64_t of_tasks =
      std::int64_t{workers} * gpus_per_worker(component) + std::int64_t{ps} * gpus_per_ps(component);
  const bool any = workers > 0 || ps > 0;
  return saturated(of_tasks + (any ? std::max(component.gpus.per_node, 0) : 0));
}

int cores_needed(const NodeState &node, const Component &component, int workers, int ps) {
  const std::int64_t cpus = std::max(component.cpus_per_task, 1), threads_per_core = threads(node);
  const std::int64_t tasks = std::int64_t{workers} + ps;
  const auto cores_of = [&](std::int64_t all) { return (all + threads_per_core - 1) / threads_per_core; };
  const bool own_cores = component.one_task_a_core || cpus >= threads_per_core;
  return saturated(own_cores ? tasks * cores_of(cpus) : cores_of(tasks * cpus));
}

Bits suitable_gpus(const NodeState &node, const Component &component) {
  Bits suitable(node.free_gpus.size());
  for (int gpu : each(node.free_gpus))
    if (is_of_model(node, component.gpus.model, gpu) && !is_lost(node, gpu)) suitable.set(gpu);
  return suitable;
}

bool fits(const NodeState &node, const Component &component, int workers, int ps, bool memory_counts) {
  if (workers < 0 || ps < 0) return false;
  if (workers == 0 && ps == 0) return true;
  if (!is_open_to(node, component)) return false;
  return holds(room_on(node, component, gpus_needed(component, workers, ps), memory_counts), node, component, workers,
               ps);
}

int most_workers(const NodeState &node, const Component &component, int ps, bool memory_counts) {
  if (!fits(node, component, 0, ps, memory_counts)) return -1;
  if (!is_open_to(node, component)) return 0;
  const int enough = gpus_needed(component, component.workers, ps);
  const Room room = room_on(node, component, enough, memory_counts);
  return most_that(0, component.workers, [&](int workers) { return holds(room, node, component, workers, ps); });
}

int most_ps(const NodeState &node, const Component &component, int workers, bool memory_counts) {
  if (!fits(node, component, workers, 0, memory_counts)) return -1;
  if (!is_open_to(node, component)) return 0;
  const int enough = gpus_needed(component, workers, component.ps);
  const Room room = room_on(node, component, enough, memory_counts);
  return most_that(0, component.ps, [&](int ps) { return holds(room, node, component, workers, ps); });
}

std::string what_masks(const NodeState &node, int index, const Component &component, bool memory_counts) {
  if (node.name.empty()) return "no such node";
  if (!component.eligible.test(index)) return "not eligible";
  if (!node.usable) return "not usable";
  if (node.whole_taken) return "taken whole by another job";
  const int workers = component.workers > 0 ? 1 : 0, ps = 1 - workers;
  if (fits(node, component, workers, ps, memory_counts)) return {};
  if (component.ps > 0 && fits(node, component, 0, 1, memory_counts)) return {};

  const int gpus = std::max(gpus_needed(component, workers, ps), least_free_gpus(component));
  const Room room = room_on(node, component, gpus, memory_counts);
  if (count_gpus_of_model(node, component) < gpus)
    return component.gpus.model.empty() ? "lacks GPUs" : "lacks GPUs of the model";
  if (room.gpus < gpus) return "busy GPUs";
  if (room.cores < cores_needed(node, component, workers, ps)) return "busy cores";
  if (room.memory_mb < memory_needed_mb(node, component, workers, ps)) return "busy memory";
  return "other jobs on it";
}

std::optional<Placement> arrange(const NodeState &node, int index, const Component &component, int workers, int ps,
                                 bool memory_counts, const std::vector<int> &workers_in) {
  if (!component.eligible.test(index) || !fits(node, component, workers, ps, memory_counts)) return std::nullopt;
  if (workers == 0 && ps == 0) return std::nullopt;
  Placement placement;
  placement.node = index;
  placement.node_name = node.name;
  placement.workers = workers;
  placement.ps = ps;
  const std::optional<GpusByTask> gpus = gpus_by_task(node, component, workers, ps, workers_in);
  if (!gpus) return std::nullopt;
  placement.gpus = component.whole_nodes ? node.free_gpus : Bits(node.free_gpus.size());
  for (const std::vector<int> &of_task : *gpus)
    for (int gpu : of_task) placement.gpus.set(gpu);
  placement.cores =
      component.whole_nodes ? node.free_cores : choose_cores(node, shares_of(node, component, workers, ps, *gpus));
  return placement;
}

} // namespace harmony
