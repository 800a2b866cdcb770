#include "src/discover/merge_nvml.h"

#include "src/values/model_name.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <string_view>
#include <utility>

namespace harmony {
namespace {

int index_of(const Topology &topology, const std::string &bus_id) {
  for (std::size_t i = 0; i < topology.gpus.size(); ++i)
    if (!bus_id.empty() && topology.gpus[i].bus_id == bus_id) return static_cast<int>(i);
  return -1;
}

const NvmlGpu *find_gpu(const NvmlReport &report, const std::string &bus_id) {
  for (const NvmlGpu &gpu : report.gpus)
    if (!bus_id.empty() && gpu.bus_id == bus_id) return &gpu;
  return nullptr;
}

bool described(const NvmlReport &report, const Gpu &gpu) {
  const NvmlGpu *found = find_gpu(report, gpu.bus_id);
  return found && !found->lost;
}

// Keeps the GPUs at these positions, in this order, with the links among them.
void keep(Topology &topology, const std::vector<int> &order) {
  std::vector<int> position(topology.gpus.size(), -1);
  std::vector<Gpu> gpus;
  for (int old : order) {
    position[old] = static_cast<int>(gpus.size());
    gpus.push_back(std::move(topology.gpus[old]));
  }
  std::vector<Link> links;
  for (const Link &link : topology.links) {
    const int first = position[link.first], second = position[link.second];
    if (first >= 0 && second >= 0) links.push_back({std::min(first, second), std::max(first, second), link.count});
  }
  topology.gpus = std::move(gpus);
  topology.links = std::move(links);
}

// Which of hwloc's GPUs are lost. One that was lost before it told its address is known only by not being among the
// others, so long as that leaves no choice.
std::vector<bool> lost_gpus(const NvmlReport &report, const Topology &topology, std::vector<std::string> &notes) {
  std::vector<bool> lost(topology.gpus.size(), false);
  std::vector<int> unmatched;
  for (std::size_t i = 0; i < topology.gpus.size(); ++i) {
    const NvmlGpu *gpu = find_gpu(report, topology.gpus[i].bus_id);
    if (gpu) lost[i] = gpu->lost;
    if (!gpu) unmatched.push_back(static_cast<int>(i));
  }
  const auto nameless = std::count_if(report.gpus.begin(), report.gpus.end(),
                                      [](const NvmlGpu &gpu) { return gpu.lost && gpu.bus_id.empty(); });
  if (nameless > 0 && nameless == static_cast<std::ptrdiff_t>(unmatched.size())) {
    for (int i : unmatched) lost[i] = true;
  } else {
    for (int i : unmatched)
      notes.push_back(fmt::format("GPU {}: NVML does not list it; kept as hwloc sees it", topology.gpus[i].bus_id));
    if (nameless > 0)
      notes.push_back(fmt::format("{} lost GPU(s) without an address, {} of hwloc's GPUs not in NVML: cannot tell "
                                  "which are lost, so none of these is marked",
                                  nameless, unmatched.size()));
  }
  return lost;
}

void mark_lost(const NvmlReport &report, Topology &topology, std::vector<std::string> &notes) {
  const std::vector<bool> lost = lost_gpus(report, topology, notes);
  for (std::size_t i = 0; i < lost.size(); ++i) {
    topology.gpus[i].lost = lost[i];
    if (lost[i]) notes.push_back(fmt::format("GPU {} is lost: no job can run there", topology.gpus[i].bus_id));
  }
}

// Slurm numbers GPUs as gres.conf lists their device files, which is mostly by minor number, and that need not be the
// order on the bus. Only where every number is known.
void order_by_device(Topology &topology) {
  constexpr std::string_view prefix = "/dev/nvidia";
  std::vector<std::pair<unsigned long, int>> minors;
  for (std::size_t i = 0; i < topology.gpus.size(); ++i) {
    const std::string &device = topology.gpus[i].device;
    if (device.size() <= prefix.size()) return;
    minors.emplace_back(std::strtoul(device.c_str() + prefix.size(), nullptr, 10), static_cast<int>(i));
  }
  std::sort(minors.begin(), minors.end());
  std::vector<int> order;
  for (const auto &[minor, index] : minors) order.push_back(index);
  keep(topology, order);
}

void add_unseen(const NvmlReport &report, Topology &topology, std::vector<std::string> &notes) {
  const std::size_t before = topology.gpus.size();
  for (const NvmlGpu &gpu : report.gpus) {
    if (gpu.lost || gpu.bus_id.empty() || index_of(topology, gpu.bus_id) >= 0) continue;
    if (topology.gpus.size() >= max_gpus) {
      notes.push_back(fmt::format("GPU {}: left out, {} GPUs are the most", gpu.bus_id, max_gpus));
      continue;
    }
    if (topology.numa.empty()) topology.numa.emplace_back();
    if (topology.domains.empty()) topology.domains.emplace_back();
    Gpu added;
    added.domain = 0;
    added.bus_id = gpu.bus_id;
    topology.gpus.push_back(std::move(added));
    notes.push_back(
        fmt::format("GPU {}: hwloc does not see it; its place is not known, taking the first host bridge", gpu.bus_id));
  }
  if (topology.gpus.size() == before) return;

  std::vector<int> order(topology.gpus.size());
  std::iota(order.begin(), order.end(), 0);
  // A PCI domain past ffff makes a longer bus id, and comes later.
  std::stable_sort(order.begin(), order.end(), [&](int one, int other) {
    const std::string &a = topology.gpus[one].bus_id, &b = topology.gpus[other].bus_id;
    return a.size() != b.size() ? a.size() < b.size() : a < b;
  });
  keep(topology, order);
}

void fill(const NvmlGpu &from, Gpu &gpu) {
  gpu.mig = from.mig;
  if (!from.uuid.empty()) gpu.uuid = from.uuid;
  if (std::string model = clean_model(from.name); !model.empty()) gpu.model = std::move(model);
  if (from.memory_mb > 0) gpu.memory_mb = from.memory_mb;
  if (!from.device.empty()) gpu.device = from.device;
  if (from.pcie_generation > 0) gpu.pcie_generation = from.pcie_generation;
  if (from.pcie_width > 0) gpu.pcie_width = from.pcie_width;
}

int links_to(const NvmlGpu &gpu, const std::string &bus_id) {
  for (const NvmlPeer &peer : gpu.peers)
    if (peer.bus_id == bus_id) return peer.links;
  return 0;
}

void replace_links(const NvmlReport &report, Topology &topology) {
  std::vector<Link> links;
  for (const Link &link : topology.links)
    if (const Gpu &one = topology.gpus[link.first], &other = topology.gpus[link.second];
        !one.lost && !other.lost && (!described(report, one) || !described(report, other)))
      links.push_back(link);

  const int count = static_cast<int>(topology.gpus.size());
  for (int first = 0; first < count; ++first) {
    const NvmlGpu *one = find_gpu(report, topology.gpus[first].bus_id);
    for (int second = first + 1; one && second < count; ++second) {
      const NvmlGpu *other = find_gpu(report, topology.gpus[second].bus_id);
      if (!other) continue;
      // A link works when both ends say so.
      const int both = std::min(links_to(*one, other->bus_id), links_to(*other, one->bus_id));
      if (both > 0) links.push_back({first, second, both});
    }
  }
  std::sort(links.begin(), links.end(),
            [](const Link &a, const Link &b) { return a.first != b.first ? a.first < b.first : a.second < b.second; });
  topology.links = std::move(links);
}

} // namespace

void merge_nvml(const NvmlReport &report, Topology &topology, std::vector<std::string> &notes) {
  if (!report.present) {
    if (!report.problem.empty() && !topology.gpus.empty()) notes.push_back(report.problem);
    return;
  }
  notes.insert(notes.end(), report.notes.begin(), report.notes.end());
  if (report.gpus.empty()) return;

  topology.source = TopologySource::nvml;
  mark_lost(report, topology, notes);
  add_unseen(report, topology, notes);
  for (Gpu &gpu : topology.gpus)
    if (const NvmlGpu *found = find_gpu(report, gpu.bus_id)) fill(*found, gpu);
  order_by_device(topology);
  replace_links(report, topology);
}

} // namespace harmony
