#include "src/plan/place.h"

#include "src/plan/fit.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace harmony {
namespace {

constexpr int tries_before_exact_counts = 8;
constexpr std::size_t nodes_in_text = 16;

std::string short_of_one_task(const Rooms &rooms, const Component &component) {
  const int gpus =
      rooms.gpus_per_node ? rooms.gpus_per_node : (component.workers ? rooms.gpus_per_worker : rooms.gpus_per_ps);
  if (gpus > rooms.most_free_gpus)
    return fmt::format("needs {} for one {}; at most {} free on any node it may use", counted(gpus, "free GPU"),
                       rooms.gpus_per_node ? "node" : "task",
                       rooms.most_free_gpus == 1 ? "1 is" : fmt::format("{} are", rooms.most_free_gpus));
  if (rooms.most_free_cores < component.cpus_per_task)
    return fmt::format("needs {} for one task; at most {} free on any node it may use",
                       counted(component.cpus_per_task, "free CPU"), counted(rooms.most_free_cores, "core"));
  return "no node it may use has enough memory, cores and GPUs free at once for one task";
}

std::string short_of_all(const Rooms &rooms, const Component &component) {
  long workers = 0, ps = 0, tasks = 0;
  int nodes = 0;
  for (const NodeClass &one : rooms.classes) {
    workers += static_cast<long>(one.count) * one.workers;
    ps += static_cast<long>(one.count) * one.ps;
    tasks += static_cast<long>(one.count) * one.tasks;
    nodes += one.count;
  }
  if (workers < component.workers)
    return fmt::format("needs room for {} at once; there is room for {}", counted(component.workers, "worker"),
                       workers);
  if (ps < component.ps) return fmt::format("needs room for {} PS at once; there is room for {}", component.ps, ps);
  if (tasks < component.tasks())
    return fmt::format("needs room for {} at once; there is room for {}", counted(component.tasks(), "task"), tasks);
  if (nodes < component.min_nodes)
    return fmt::format("needs {}; {} room for a task of it", counted(component.min_nodes, "node"),
                       nodes == 1 ? "1 has" : fmt::format("{} have", nodes));
  if (component.max_nodes == 1) return "no node holds all of it now, and it may not use more than one";
  if (component.max_nodes)
    return fmt::format("no {} hold it now, and it may not use more", counted(component.max_nodes, "node"));
  return "its workers and PS do not fit beside each other now";
}

} // namespace

GangPlacer::GangPlacer(const Cluster &cluster, const Gang &gang, bool know_distributed, Of of)
    : gang_(gang), know_distributed_(know_distributed), view_(cluster, of == Of::empty_cluster) {}

void GangPlacer::tell_apart(const std::vector<int> &states) {
  states_ = &states;
  known_.clear();
}

const Rooms &GangPlacer::rooms_of(int component) {
  if (component == 0) return rooms(0, {});
  view_.give_back();
  return rooms(component, {});
}

const Rooms &GangPlacer::rooms(int index, const std::vector<int> &beside) {
  const Component &component = gang_.components[static_cast<std::size_t>(index)];
  // Only the first component meets the nodes unchanged, whichever way is tried.
  if (index > 0) return latest_ = find_rooms(view_, component, beside, know_distributed_, states_);
  const auto found = known_.find(index);
  if (found != known_.end()) return found->second;
  return known_.emplace(index, find_rooms(view_, component, beside, know_distributed_, states_)).first->second;
}

std::optional<Plan> GangPlacer::by(const Way &way, bool components_apart) {
  Plan plan;
  bool whole = !gang_.components.empty();
  for (int i = 0; whole && i < static_cast<int>(gang_.components.size()); ++i)
    whole = place_component(i, way, components_apart, plan);
  view_.give_back();
  if (!whole) return std::nullopt;
  return plan;
}

bool GangPlacer::place_component(int index, const Way &way, bool apart, Plan &plan) {
  const Component &component = gang_.components[static_cast<std::size_t>(index)];
  const std::vector<int> used = nodes_of(plan);
  for (int tries = 0; tries <= tries_before_exact_counts + 1; ++tries) {
    if (tries == tries_before_exact_counts) {
      view_.distrust_all();
      known_.clear();
    }
    const Rooms &all = rooms(index, used);
    const auto shares = apart && !used.empty() ? way(without(all, used), component) : way(all, component);
    if (!shares) return false;
    if (arrange_all(index, *shares, plan)) return true;
  }
  return false;
}

bool GangPlacer::arrange_all(int index, const Shares &shares, Plan &plan) {
  const Component &component = gang_.components[static_cast<std::size_t>(index)];
  const bool last = index + 1 == static_cast<int>(gang_.components.size());
  const std::size_t before = plan.placements.size();
  for (const Share &share : shares) {
    auto placement = arrange(view_.node(share.node), share.node, component, share.workers, share.ps,
                             view_.cluster().memory_counts(), share.workers_in);
    if (!placement) {
      view_.distrust(share.node);
      known_.clear();
      plan.placements.resize(before);
      return false;
    }
    placement->component = index;
    plan.placements.push_back(std::move(*placement));
  }
  if (!last)
    for (std::size_t i = before; i < plan.placements.size(); ++i) view_.take(component, plan.placements[i]);
  return true;
}

std::optional<Plan> GangPlacer::fewest(const Choice &choice) {
  return by([&](const Rooms &rooms, const Component &component) { return fewest_nodes(rooms, component, choice); },
            choice.ps_apart);
}

std::optional<Plan> GangPlacer::by_turns(const std::function<Score(const Rooms &, const Component &)> &scorer) {
  const auto way = [&](const Rooms &rooms, const Component &component) -> std::optional<Shares> {
    const auto fewest = fewest_nodes(rooms, component, {});
    if (!fewest) return std::nullopt;
    // Every node of such a job holds as many GPUs, so more nodes would be more GPUs than it asked for.
    const int most = component.gpus.per_node ? static_cast<int>(fewest->size()) : 0;
    const auto shares = in_turn(rooms, component, most, scorer(rooms, component));
    return shares ? shares : fewest;
  };
  return by(way, false);
}

int GangPlacer::nodes_at_least() {
  const Rooms &found = rooms(0, {});
  const Component &component = gang_.components.front();
  int least = std::max(1, component.min_nodes);
  const auto raise = [&](int need, int largest) {
    if (largest > 0) least = std::max(least, (need + largest - 1) / largest);
  };
  raise(component.workers * found.gpus_per_worker + component.ps * found.gpus_per_ps, found.largest_gpus);
  raise(component.tasks() * found.cpus_per_task, found.largest_cpus);
  raise(component.tasks(), component.tasks_per_node);
  return least;
}

std::string GangPlacer::what_is_short() {
  view_.give_back();
  for (const Component &component : gang_.components) {
    const Rooms found = find_rooms(view_, component, {}, false);
    if (found.usable == 0) return "no node it may use is up";
    if (found.classes.empty()) return short_of_one_task(found, component);
    if (found.required_missing >= 0)
      return fmt::format("node {}, which it must use, has no room for a task of it now",
                         view_.cluster().node(found.required_missing).name);
    if (!fewest_nodes(found, component, {})) return short_of_all(found, component);
  }
  return gang_.components.empty() ? "it has no tasks" : "its parts do not fit beside each other now";
}

std::vector<int> nodes_of(const Plan &plan) {
  std::vector<int> nodes;
  for (const Placement &placement : plan.placements) nodes.push_back(placement.node);
  std::sort(nodes.begin(), nodes.end());
  nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
  return nodes;
}

int gpus_stranded(const Cluster &cluster, const Plan &plan) {
  int stranded = 0;
  for (const int node : nodes_of(plan)) stranded += cluster.node(node).free_gpus.count();
  for (const Placement &placement : plan.placements) stranded -= placement.gpus.count();
  return stranded;
}

std::string nodes_text(const Plan &plan) {
  struct Tasks {
    std::string name;
    int workers = 0;
    int ps = 0;
  };
  std::map<int, Tasks> by_node;
  for (const Placement &placement : plan.placements) {
    Tasks &tasks = by_node[placement.node];
    tasks.name = placement.node_name;
    tasks.workers += placement.workers;
    tasks.ps += placement.ps;
  }
  std::string text;
  std::size_t written = 0;
  for (const auto &[node, tasks] : by_node) {
    if (written == nodes_in_text) return text + fmt::format(" and {} more", by_node.size() - written);
    text += fmt::format("{}{} {}+{}", written++ ? ", " : "", tasks.name, tasks.workers, tasks.ps);
  }
  return text;
}

std::string counted(int count, const char *what) { return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s"); }

} // namespace harmony
