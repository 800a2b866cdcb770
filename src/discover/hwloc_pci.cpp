#include "src/discover/hwloc_pci.h"

#include "src/discover/hwloc_gpu.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <set>
#include <string>
#include <tuple>

namespace harmony {
namespace {

bool is_nic(hwloc_obj_t object) {
  if (object->type != HWLOC_OBJ_OS_DEVICE) return false;
  return object->attr->osdev.type == HWLOC_OBJ_OSDEV_NETWORK || object->attr->osdev.type == HWLOC_OBJ_OSDEV_OPENFABRICS;
}

// hwloc's block devices are also CD drives, tapes and memory on CXL.
bool is_disk(hwloc_obj_t object) {
  if (object->type != HWLOC_OBJ_OS_DEVICE || object->attr->osdev.type != HWLOC_OBJ_OSDEV_BLOCK) return false;
  const std::string subtype = object->subtype ? object->subtype : "";
  for (const char *other : {"Removable Media Device", "Tape", "CXLMem", "SPM", "NVM"})
    if (subtype == other) return false;
  return true;
}

template <class Wanted> void find_below(hwloc_obj_t object, Wanted wanted, std::vector<hwloc_obj_t> &found) {
  for (hwloc_obj_t child = object->io_first_child; child; child = child->next_sibling) {
    if (wanted(child)) found.push_back(child);
    find_below(child, wanted, found);
  }
}

template <class Wanted> std::vector<hwloc_obj_t> find_below(hwloc_obj_t object, Wanted wanted) {
  std::vector<hwloc_obj_t> found;
  find_below(object, wanted, found);
  return found;
}

bool network_class(hwloc_obj_t pci_device) { return pci_device->attr->pcidev.class_id >> 8 == 0x02; }

bool device_of_interest(hwloc_obj_t pci_device) {
  if (is_gpu(pci_device)) return true;
  if (network_class(pci_device)) return !find_below(pci_device, is_nic).empty();
  return !find_below(pci_device, is_disk).empty();
}

bool of_interest(hwloc_obj_t object) {
  if (object->type == HWLOC_OBJ_PCI_DEVICE) return device_of_interest(object);
  if (object->type != HWLOC_OBJ_BRIDGE) return false;
  for (hwloc_obj_t child = object->io_first_child; child; child = child->next_sibling)
    if (of_interest(child)) return true;
  return false;
}

bool is_host_bridge(hwloc_obj_t object) {
  return object->type == HWLOC_OBJ_BRIDGE && object->attr->bridge.upstream_type == HWLOC_OBJ_BRIDGE_HOST;
}

using BusKey = std::tuple<unsigned, unsigned, unsigned, unsigned>; // domain, bus, device, function

BusKey bus_key(hwloc_obj_t object) {
  if (is_host_bridge(object)) {
    const auto &bus = object->attr->bridge.downstream.pci;
    return {bus.domain, bus.secondary_bus, 0, 0};
  }
  const auto &pci = object->attr->pcidev; // of a bridge: its upstream side, which is laid out alike
  return {pci.domain, pci.bus, pci.dev, pci.func};
}

bool by_bus(hwloc_obj_t one, hwloc_obj_t other) { return bus_key(one) < bus_key(other); }

// Everything that shares one way into the CPUs: a host bridge's children, or the devices right below a normal object
// if the export has no bridges (`lstopo --no-bridges`).
struct Root {
  hwloc_obj_t cpu_side = nullptr;
  std::vector<hwloc_obj_t> children; // of interest, by bus
  BusKey key;
};

std::vector<hwloc_obj_t> children_of_interest(hwloc_obj_t object) {
  std::vector<hwloc_obj_t> children;
  for (hwloc_obj_t child = object->io_first_child; child; child = child->next_sibling)
    if (of_interest(child) && !(is_host_bridge(child) && object->type != HWLOC_OBJ_BRIDGE)) children.push_back(child);
  std::sort(children.begin(), children.end(), by_bus);
  return children;
}

void find_roots(hwloc_obj_t object, std::vector<Root> &roots) {
  for (hwloc_obj_t child = object->io_first_child; child; child = child->next_sibling)
    if (is_host_bridge(child) && of_interest(child))
      roots.push_back({object, children_of_interest(child), bus_key(child)});
  std::vector<hwloc_obj_t> bare = children_of_interest(object);
  if (!bare.empty()) {
    const BusKey key = bus_key(bare.front());
    roots.push_back({object, std::move(bare), key});
  }
  for (hwloc_obj_t child = object->first_child; child; child = child->next_sibling) find_roots(child, roots);
}

bool branches(const std::vector<hwloc_obj_t> &children) {
  std::set<BusKey> places;
  for (const hwloc_obj_t child : children) {
    BusKey place = bus_key(child);
    if (child->type == HWLOC_OBJ_PCI_DEVICE) std::get<3>(place) = 0; // its functions are in one place
    places.insert(place);
  }
  return places.size() > 1;
}

std::uint32_t speed_on_this_machine(const std::string &name) {
  if (name.empty() || name.find('/') != std::string::npos) return 0;
  long long mbps = -1; // the kernel says -1 too, or nothing, while the link is down
  std::ifstream("/sys/class/net/" + name + "/speed") >> mbps;
  return mbps > 0 && mbps <= UINT32_MAX ? static_cast<std::uint32_t>(mbps) : 0;
}

class PciReader {
public:
  PciReader(hwloc_topology_t topology, const Cpus &cpus, Topology &filled)
      : topology_(topology), cpus_(cpus), filled_(filled) {}

  void read() {
    std::vector<Root> roots;
    find_roots(hwloc_get_root_obj(topology_), roots);
    std::sort(roots.begin(), roots.end(), [](const Root &one, const Root &other) { return one.key < other.key; });
    for (const Root &root : roots) {
      const int numa = cpus_.numa_near(root.cpu_side);
      place(root.children, add_domain({DomainKind::host_bridge, -1, numa}));
    }
    add_gpus();
  }

private:
  int add_domain(const Domain &domain) {
    filled_.domains.push_back(domain);
    return static_cast<int>(filled_.domains.size()) - 1;
  }

  void place(const std::vector<hwloc_obj_t> &objects, int domain) {
    for (const hwloc_obj_t object : objects) {
      if (object->type == HWLOC_OBJ_PCI_DEVICE) {
        place_device(object, domain);
        continue;
      }
      const std::vector<hwloc_obj_t> children = children_of_interest(object);
      const int numa = filled_.domains[domain].numa;
      place(children, branches(children) ? add_domain({DomainKind::pcie_switch, domain, numa}) : domain);
    }
  }

  void place_device(hwloc_obj_t device, int domain) {
    if (is_gpu(device))
      gpus_.push_back({device, domain});
    else if (network_class(device))
      add_nic(device, domain);
    else
      add_disks(device, domain);
  }

  // An InfiniBand port is there twice, as ib0 and as mlx5_0: one NIC for a PCI function, by its network name if it has
  // one.
  void add_nic(hwloc_obj_t device, int domain) {
    const std::vector<hwloc_obj_t> found = find_below(device, is_nic);
    const auto network = std::find_if(found.begin(), found.end(), [](hwloc_obj_t object) {
      return object->attr->osdev.type == HWLOC_OBJ_OSDEV_NETWORK;
    });
    const hwloc_obj_t named = network != found.end() ? *network : found.front();
    Nic nic;
    nic.domain = domain;
    if (named->name) nic.name = named->name;
    if (network != found.end() && hwloc_topology_is_thissystem(topology_))
      nic.speed_mbps = speed_on_this_machine(nic.name);
    filled_.nics.push_back(nic);
  }

  // A SATA controller has several disks; an NVMe drive is one, whatever its name spaces.
  void add_disks(hwloc_obj_t device, int domain) {
    constexpr unsigned nvme_class = 0x0108;
    std::set<std::string> names;
    for (const hwloc_obj_t disk : find_below(device, is_disk)) names.insert(disk->name ? disk->name : "");
    for (const std::string &name : names) {
      filled_.disks.push_back({domain, name});
      if (device->attr->pcidev.class_id == nvme_class) return;
    }
  }

  void add_gpus() {
    std::sort(gpus_.begin(), gpus_.end(),
              [](const auto &one, const auto &other) { return by_bus(one.device, other.device); });
    std::vector<hwloc_obj_t> devices;
    for (const PlacedGpu &placed : gpus_) {
      Gpu gpu = describe_gpu(topology_, placed.device);
      gpu.domain = placed.domain;
      filled_.gpus.push_back(gpu);
      devices.push_back(placed.device);
    }
    if (devices.size() <= max_gpus) filled_.links = read_nvlinks(topology_, devices); // more are refused anyway
  }

  struct PlacedGpu {
    hwloc_obj_t device;
    int domain;
  };

  hwloc_topology_t topology_;
  const Cpus &cpus_;
  Topology &filled_;
  std::vector<PlacedGpu> gpus_;
};

} // namespace

void read_pci(hwloc_topology_t topology, const Cpus &cpus, Topology &filled) {
  PciReader(topology, cpus, filled).read();
}

} // namespace harmony
