#include "src/discover/hwloc_gpu.h"

#include "src/values/model_name.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>

namespace harmony {
namespace {

constexpr unsigned nvidia = 0x10de, amd = 0x1002, intel = 0x8086;
constexpr unsigned vga = 0x0300, controller_3d = 0x0302, display_other = 0x0380, accelerator = 0x1200;

// An info of the PCI device or of a software device (nvml0, cuda0, rsmi0 ...) below it.
const char *find_info(hwloc_obj_t object, const char *name) {
  if (const char *value = hwloc_obj_get_info_by_name(object, name)) return value;
  for (hwloc_obj_t child = object->io_first_child; child; child = child->next_sibling)
    if (const char *value = find_info(child, name)) return value;
  return nullptr;
}

// The PCI database writes "GV100GL [Tesla V100 SXM2 32GB]": chip, then product.
std::string product(const std::string &device) {
  const std::size_t open = device.find('['), close = device.rfind(']');
  if (open == std::string::npos || close == std::string::npos || close <= open + 1) return device;
  return device.substr(open + 1, close - open - 1);
}

std::string model_of(hwloc_obj_t device) {
  std::string model;
  if (const char *name = find_info(device, "GPUModel")) model = clean_model(name);
  if (model.empty())
    if (const char *name = find_info(device, "PCIDevice")) model = clean_model(product(name));
  if (!model.empty()) return model;
  return fmt::format("{:04x}-{:04x}", device->attr->pcidev.vendor_id, device->attr->pcidev.device_id);
}

// Kilobytes, by each of hwloc's GPU back ends under a name of its own.
std::uint64_t memory_kb(hwloc_obj_t device) {
  for (const char *name : {"CUDAGlobalMemorySize", "RSMIVRAMSize", "LevelZeroHBMSize", "OpenCLGlobalMemorySize"})
    if (const char *value = find_info(device, name)) return std::strtoull(value, nullptr, 10);
  return 0;
}

// Where a GPU's memory is a NUMA node (Grace Hopper), the node names the GPU.
std::uint64_t memory_of_node_kb(hwloc_topology_t topology, const std::string &gpu_bus_id) {
  for (hwloc_obj_t node = nullptr; (node = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_NUMANODE, node));) {
    const char *owner = hwloc_obj_get_info_by_name(node, "PCIBusID");
    if (owner && gpu_bus_id == owner && node->attr->numanode.local_memory)
      return node->attr->numanode.local_memory >> 10;
  }
  return 0;
}

std::string first_line(const std::string &path) {
  std::string line;
  std::getline(std::ifstream(path), line);
  return line;
}

// The kernel knows what the link can do; what it does now is less while the GPU sleeps.
void read_pcie_from_sysfs(Gpu &gpu) {
  const std::string folder = "/sys/bus/pci/devices/" + gpu.bus_id;
  const double speed = std::atof(first_line(folder + "/max_link_speed").c_str()); // "16.0 GT/s PCIe"
  gpu.pcie_width = std::clamp(std::atoi(first_line(folder + "/max_link_width").c_str()), 0, 32);
  int generation = 0;
  for (double rate : {2.5, 5.0, 8.0, 16.0, 32.0, 64.0})
    if (speed >= rate) ++generation;
  gpu.pcie_generation = generation;
}

// An export has GB/s only. GPUs have 16 lanes; where that gives no generation, both stay unknown.
void guess_pcie_from_speed(double gigabytes, Gpu &gpu) {
  int generation = 0;
  for (double rate : {4.0, 8.0, 15.75, 31.5, 63.0}) {
    ++generation;
    if (std::abs(gigabytes - rate) > 0.03 * rate) continue;
    gpu.pcie_generation = generation;
    gpu.pcie_width = 16;
  }
}

struct NvlinkMatrix {
  hwloc_distances_s *distances;
  std::uint64_t mbps(unsigned from, unsigned to) const { return distances->values[from * distances->nbobjs + to]; }
  hwloc_obj_t object(unsigned i) const { return distances->objs[i]; }
  unsigned size() const { return distances->nbobjs; }
};

std::uint64_t mbps_of_one_link(const NvlinkMatrix &matrix) {
  std::uint64_t smallest = 0;
  bool by_25000 = true, by_20000 = true;
  for (unsigned from = 0; from < matrix.size(); ++from)
    for (unsigned to = 0; to < matrix.size(); ++to) {
      const std::uint64_t mbps = matrix.mbps(from, to);
      if (from == to || mbps == 0) continue;
      by_25000 = by_25000 && mbps % 25000 == 0;
      by_20000 = by_20000 && mbps % 20000 == 0;
      smallest = smallest ? std::min(smallest, mbps) : mbps;
    }
  if (!smallest) return 0;
  return by_25000 ? 25000 : by_20000 ? 20000 : smallest;
}

bool is_nvswitch(hwloc_obj_t object) { return object && object->subtype && !std::strcmp(object->subtype, "NVSwitch"); }

// The GPU that an object of the matrix (nvml0, or the PCI device itself) belongs to; -1 if none.
int gpu_of(hwloc_obj_t object, const std::vector<hwloc_obj_t> &gpus) {
  while (object && object->type == HWLOC_OBJ_OS_DEVICE) object = object->parent;
  const auto found = std::find(gpus.begin(), gpus.end(), object);
  return object && found != gpus.end() ? static_cast<int>(found - gpus.begin()) : -1;
}

std::vector<Link> links_from(const NvlinkMatrix &matrix, const std::vector<hwloc_obj_t> &gpus) {
  constexpr std::uint64_t far_too_many = 1000; // refused later on by problem_with()
  const std::uint64_t one_link = mbps_of_one_link(matrix);
  if (!one_link) return {};
  std::map<std::pair<int, int>, int> counts;
  std::vector<int> into_switches(gpus.size(), 0);
  for (unsigned from = 0; from < matrix.size(); ++from) {
    const int gpu = gpu_of(matrix.object(from), gpus);
    if (gpu < 0) continue;
    for (unsigned to = 0; to < matrix.size(); ++to) {
      const int count = static_cast<int>(std::min(matrix.mbps(from, to) / one_link, far_too_many));
      if (from == to || count == 0) continue;
      const int peer = gpu_of(matrix.object(to), gpus);
      if (peer > gpu) counts[{gpu, peer}] = count;
      if (peer < 0 && is_nvswitch(matrix.object(to))) into_switches[gpu] += count;
    }
  }
  for (int gpu = 0; gpu < static_cast<int>(gpus.size()); ++gpu)
    for (int peer = gpu + 1; peer < static_cast<int>(gpus.size()); ++peer)
      if (const int count = std::min(into_switches[gpu], into_switches[peer])) counts[{gpu, peer}] += count;
  std::vector<Link> links;
  for (const auto &[pair, count] : counts) links.push_back({pair.first, pair.second, count});
  return links;
}

} // namespace

bool is_gpu(hwloc_obj_t pci_device) {
  const auto &pci = pci_device->attr->pcidev;
  if (pci.vendor_id == nvidia) return pci.class_id == vga || pci.class_id == controller_3d;
  if (pci.vendor_id == intel && pci.bus == 0) return false; // in the processor
  return (pci.vendor_id == amd || pci.vendor_id == intel) &&
         (pci.class_id == controller_3d || pci.class_id == display_other || pci.class_id == accelerator);
}

std::string bus_id(hwloc_obj_t pci_device) {
  const auto &pci = pci_device->attr->pcidev;
  return fmt::format("{:04x}:{:02x}:{:02x}.{:x}", static_cast<unsigned>(pci.domain), pci.bus, pci.dev, pci.func);
}

Gpu describe_gpu(hwloc_topology_t topology, hwloc_obj_t pci_device) {
  Gpu gpu;
  gpu.bus_id = bus_id(pci_device);
  gpu.model = model_of(pci_device);
  std::uint64_t kb = memory_kb(pci_device);
  if (!kb) kb = memory_of_node_kb(topology, gpu.bus_id);
  gpu.memory_mb = static_cast<std::uint32_t>(std::min<std::uint64_t>(kb >> 10, UINT32_MAX));
  if (const char *uuid = find_info(pci_device, "NVIDIAUUID")) gpu.uuid = uuid;
  if (hwloc_topology_is_thissystem(topology))
    read_pcie_from_sysfs(gpu);
  else
    guess_pcie_from_speed(pci_device->attr->pcidev.linkspeed, gpu);
  return gpu;
}

std::vector<Link> read_nvlinks(hwloc_topology_t topology, const std::vector<hwloc_obj_t> &gpus) {
  unsigned count = 1;
  hwloc_distances_s *distances = nullptr;
  if (hwloc_distances_get_by_name(topology, "NVLinkBandwidth", &count, &distances, 0) != 0 || count == 0 || !distances)
    return {};
  std::vector<Link> links = links_from({distances}, gpus);
  hwloc_distances_release(topology, distances);
  return links;
}

} // namespace harmony
