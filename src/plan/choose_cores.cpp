#include "src/plan/choose_cores.h"

#include "src/plan/choose_gpus.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>

namespace harmony {
namespace {

// The cores of a NUMA node, or those that are in none.
struct Area {
  int socket = -1;
  Bits free;
  int free_gpus = 0; // that stay free
  int demand = 0;    // cores for tasks with GPUs here
  bool home = false; // GPUs of this placement are here
};

bool in_range(int index, std::size_t size) { return index >= 0 && static_cast<std::size_t>(index) < size; }

// The NUMA node of a GPU, or -1.
int numa_of(const NodeState &node, int gpu) {
  const Topology *topology = gpu_topology(node);
  if (!topology || !in_range(gpu, topology->gpus.size())) return -1;
  const int domain = topology->gpus[static_cast<std::size_t>(gpu)].domain;
  if (!in_range(domain, topology->domains.size())) return -1;
  const int numa = topology->domains[static_cast<std::size_t>(domain)].numa;
  return in_range(numa, topology->numa.size()) ? numa : -1;
}

class CoreChoice {
public:
  explicit CoreChoice(const NodeState &node);

  void add_demand(const TaskShare &task);
  void take_near_gpus();
  void take_loose();

  Bits take_chosen() { return std::move(chosen_); }

private:
  int take(Area &area, int most);
  bool take_beside_gpus();
  std::vector<int> by_spare() const;

  const NodeState &node_;
  std::vector<Area> areas_; // by NUMA node; the last: cores in none
  Bits chosen_;
  Bits still_free_; // GPUs
  int loose_ = 0;   // cores that may be anywhere
};

CoreChoice::CoreChoice(const NodeState &node)
    : node_(node), chosen_(node.free_cores.size()), still_free_(node.free_gpus.size()) {
  Bits rest = node.free_cores;
  areas_.reserve((node.topology ? node.topology->numa.size() : 0) + 1);
  if (node.topology)
    for (const NumaNode &numa : node.topology->numa) {
      Area area;
      area.socket = numa.socket;
      area.free = Bits(rest.size());
      for (const CoreRange &range : numa.cores)
        for (int core = rest.next(range.first); core >= 0 && core <= range.last; core = rest.next(core + 1)) {
          area.free.set(core);
          rest.clear(core);
        }
      areas_.push_back(std::move(area));
    }
  areas_.emplace_back().free = std::move(rest);
  for (int gpu : each(node.free_gpus)) {
    const int numa = numa_of(node, gpu);
    if (numa < 0 || is_lost(node, gpu)) continue;
    still_free_.set(gpu);
    ++areas_[static_cast<std::size_t>(numa)].free_gpus;
  }
}

// A task whose GPUs are on several NUMA nodes gets cores of each.
void CoreChoice::add_demand(const TaskShare &task) {
  const int gpus = static_cast<int>(task.gpus.size());
  for (int gpu : task.gpus) {
    const int numa = numa_of(node_, gpu);
    if (numa < 0 || !still_free_.test(gpu)) continue; // tasks may share a GPU
    still_free_.clear(gpu);
    areas_[static_cast<std::size_t>(numa)].home = true;
    --areas_[static_cast<std::size_t>(numa)].free_gpus;
  }
  for (int core = 0; core < task.cores; ++core) {
    const auto nearest = static_cast<std::size_t>(static_cast<long>(core) * gpus / task.cores);
    const int numa = gpus > 0 ? numa_of(node_, task.gpus[nearest]) : -1;
    ++(numa >= 0 ? areas_[static_cast<std::size_t>(numa)].demand : loose_);
  }
}

int CoreChoice::take(Area &area, int most) {
  int taken = 0;
  for (int core = area.free.first(); core >= 0 && taken < most; core = area.free.next(core + 1)) {
    area.free.clear(core);
    chosen_.set(core);
    ++taken;
  }
  return taken;
}

// First every NUMA node for its own GPUs, so that none takes what a GPU beside the cores needs.
void CoreChoice::take_near_gpus() {
  for (Area &area : areas_) area.demand -= take(area, area.demand);
  for (Area &area : areas_)
    for (Area &other : areas_)
      if (other.socket == area.socket && area.demand > 0) area.demand -= take(other, area.demand);
  for (Area &area : areas_) loose_ += area.demand;
}

void CoreChoice::take_loose() {
  if (loose_ == 0 || take_beside_gpus()) return;
  const std::vector<int> order = by_spare();
  for (int index : order) {
    Area &area = areas_[static_cast<std::size_t>(index)];
    if (area.free.count() < loose_) continue;
    loose_ -= take(area, loose_);
    return;
  }
  for (int index : order) loose_ -= take(areas_[static_cast<std::size_t>(index)], loose_);
}

// On the NUMA node of the placement's own GPUs, else on its socket, if that leaves a core for each GPU still free
// there.
bool CoreChoice::take_beside_gpus() {
  const auto fits = [&](const Area &area) { return area.free.count() - loose_ >= area.free_gpus; };
  const auto near = [&](const Area &area) {
    return std::any_of(areas_.begin(), areas_.end(),
                       [&](const Area &other) { return other.home && other.socket == area.socket; });
  };
  auto found = std::find_if(areas_.begin(), areas_.end(), [&](const Area &area) { return area.home && fits(area); });
  if (found == areas_.end())
    found = std::find_if(areas_.begin(), areas_.end(), [&](const Area &area) { return near(area) && fits(area); });
  if (found == areas_.end()) return false;
  loose_ -= take(*found, loose_);
  return true;
}

// Areas by how many free cores they have beyond an even share for each free GPU: sockets first, so that a spill stays
// on one.
std::vector<int> CoreChoice::by_spare() const {
  const int share = node_.free_gpus.size() > 0 ? node_.free_cores.size() / node_.free_gpus.size() : 0;
  const auto spare = [&](const Area &area) { return area.free.count() - share * area.free_gpus; };
  std::map<int, int> socket_spare;
  for (const Area &area : areas_) socket_spare[area.socket] += spare(area);
  const auto key = [&](int index) {
    const Area &area = areas_[static_cast<std::size_t>(index)];
    return std::make_tuple(-socket_spare.at(area.socket), area.socket, -spare(area), index);
  };
  std::vector<int> order(areas_.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](int one, int other) { return key(one) < key(other); });
  return order;
}

} // namespace

Bits choose_cores(const NodeState &node, const std::vector<TaskShare> &tasks) {
  CoreChoice choice(node);
  for (const TaskShare &task : tasks) choice.add_demand(task);
  choice.take_near_gpus();
  choice.take_loose();
  return choice.take_chosen();
}

} // namespace harmony
