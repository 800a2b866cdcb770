#include "src/discover/profiles.h"

#include <fmt/format.h>

#include <array>

namespace harmony {
namespace {

struct GpuKind {
  const char *model;
  std::uint32_t memory_mb;
  int pcie_generation; // 0: not on PCIe
};

constexpr GpuKind gtx1080ti{"gtx1080ti", 11264, 3}, rtx6000{"rtx6000", 24576, 3}, v100{"v100", 32768, 3},
    a100{"a100", 40960, 4}, rtx3090{"rtx3090", 24576, 4}, gh200_gpu{"gh200", 97871, 0};

// Adds parts to a topology in the order in which a PCI bus scan meets them.
class Machine {
public:
  explicit Machine(int sockets) {
    topology_.source = TopologySource::synthetic;
    topology_.sockets = sockets;
  }

  int numa(int socket, int cores, std::uint32_t memory_mb) {
    topology_.numa.push_back({socket, {{next_core_, next_core_ + cores - 1}}, memory_mb});
    next_core_ += cores;
    return static_cast<int>(topology_.numa.size()) - 1;
  }

  int bridge(int numa) { return domain({DomainKind::host_bridge, -1, numa}); }
  int pcie_switch(int parent) { return domain({DomainKind::pcie_switch, parent, topology_.domains[parent].numa}); }

  void gpus(int domain, const GpuKind &kind, int count = 1) {
    for (; count > 0; --count) {
      Gpu gpu;
      gpu.domain = domain;
      gpu.model = kind.model;
      gpu.memory_mb = kind.memory_mb;
      gpu.bus_id = fmt::format("0000:{:02x}:00.0", 0x10 + 8 * topology_.gpus.size());
      gpu.pcie_generation = kind.pcie_generation;
      gpu.pcie_width = kind.pcie_generation ? 16 : 0;
      topology_.gpus.push_back(gpu);
    }
  }

  void nic(int domain, std::uint32_t speed_mbps) {
    const char *prefix = speed_mbps < 100000 ? "eth" : "mlx5_";
    topology_.nics.push_back({domain, speed_mbps, fmt::format("{}{}", prefix, topology_.nics.size())});
  }

  void nvme(int domain) { topology_.disks.push_back({domain, fmt::format("nvme{}n1", topology_.disks.size())}); }

  template <class Count> void link(Count count_between) {
    const int gpus = static_cast<int>(topology_.gpus.size());
    for (int first = 0; first < gpus; ++first)
      for (int second = first + 1; second < gpus; ++second)
        if (const int count = count_between(first, second)) topology_.links.push_back({first, second, count});
  }

  Topology done() const { return topology_; }

private:
  int domain(const Domain &domain) {
    topology_.domains.push_back(domain);
    return static_cast<int>(topology_.domains.size()) - 1;
  }

  Topology topology_;
  int next_core_ = 0;
};

// A server of the Harmony testbed.
Topology servers6() {
  Machine machine(1);
  const int bridge = machine.bridge(machine.numa(0, 8, 64000));
  machine.gpus(bridge, gtx1080ti, 2);
  machine.nic(bridge, 25000);
  return machine.done();
}

// Each switch has a host bridge of its own, as on Intel servers since Skylake.
Topology pcie8() {
  Machine machine(2);
  for (int socket = 0; socket < 2; ++socket) {
    const int numa = machine.numa(socket, 16, 128000);
    for (int i = 0; i < 2; ++i) {
      const int below = machine.pcie_switch(machine.bridge(numa));
      machine.gpus(below, rtx6000, 2);
      if (i == 0) machine.nic(below, 100000);
    }
    machine.nvme(machine.bridge(numa));
  }
  return machine.done();
}

// The V100 model: a hybrid cube mesh of NVLinks, one host bridge a socket.
Topology dgx1() {
  Machine machine(2);
  for (int socket = 0; socket < 2; ++socket) {
    const int bridge = machine.bridge(machine.numa(socket, 20, 256000));
    for (int i = 0; i < 2; ++i) {
      const int below = machine.pcie_switch(bridge);
      machine.gpus(below, v100, 2);
      machine.nic(below, 100000);
    }
  }
  machine.link([](int first, int second) {
    constexpr std::array<std::array<int, 4>, 4> in_quad{{{0, 1, 1, 2}, {1, 0, 2, 1}, {1, 2, 0, 2}, {2, 1, 2, 0}}};
    constexpr std::array<int, 4> to_other_quad{2, 2, 1, 1};
    if (first / 4 == second / 4) return in_quad[first % 4][second % 4];
    return second == first + 4 ? to_other_quad[first] : 0;
  });
  return machine.done();
}

// Two levels of switches, and NVSwitch between all GPUs.
Topology dgx2() {
  Machine machine(2);
  for (int socket = 0; socket < 2; ++socket) {
    const int bridge = machine.bridge(machine.numa(socket, 24, 750000));
    for (int i = 0; i < 2; ++i) {
      const int upper = machine.pcie_switch(bridge);
      for (int j = 0; j < 2; ++j) {
        const int below = machine.pcie_switch(upper);
        machine.gpus(below, v100, 2);
        machine.nic(below, 100000);
      }
      machine.nvme(upper);
    }
  }
  machine.link([](int, int) { return 6; });
  return machine.done();
}

// An EPYC in NPS4 mode.
Topology epyc4() {
  Machine machine(1);
  for (int i = 0; i < 4; ++i) {
    const int numa = machine.numa(0, 16, 128000);
    machine.gpus(machine.bridge(numa), a100);
    if (i == 0) machine.nic(machine.bridge(numa), 100000);
    if (i == 3) machine.nvme(machine.bridge(numa));
  }
  return machine.done();
}

Topology workstation2() {
  Machine machine(1);
  const int bridge = machine.bridge(machine.numa(0, 8, 64000));
  machine.gpus(bridge, rtx3090, 2);
  machine.nic(bridge, 10000);
  machine.nvme(bridge);
  return machine.done();
}

// A two-socket server with a PCIe switch below each socket, the commonest shape of 4-GPU machines with PCIe cards.
Topology quad4() {
  Machine machine(2);
  for (int socket = 0; socket < 2; ++socket) {
    const int numa = machine.numa(socket, 12, 96000);
    const int below = machine.pcie_switch(machine.bridge(numa));
    machine.gpus(below, v100, 2);
    if (socket == 0) machine.nic(below, 25000);
    if (socket == 1) machine.nvme(machine.bridge(numa));
  }
  return machine.done();
}

Topology nogpu() {
  Machine machine(2);
  for (int socket = 0; socket < 2; ++socket) {
    const int bridge = machine.bridge(machine.numa(socket, 16, 96000));
    if (socket == 0) machine.nic(bridge, 25000);
    machine.nvme(bridge);
  }
  return machine.done();
}

// The GPU is joined to the CPU by NVLink-C2C; its memory, a NUMA node without cores, is not listed.
Topology gh200() {
  Machine machine(1);
  const int numa = machine.numa(0, 72, 480000);
  machine.nvme(machine.bridge(numa));
  machine.nic(machine.bridge(numa), 400000);
  machine.gpus(machine.bridge(numa), gh200_gpu);
  return machine.done();
}

struct Profile {
  const char *name;
  Topology (*build)();
};

constexpr std::array<Profile, 9> profiles{{{"dgx1", dgx1},
                                           {"dgx2", dgx2},
                                           {"epyc4", epyc4},
                                           {"gh200", gh200},
                                           {"nogpu", nogpu},
                                           {"pcie8", pcie8},
                                           {"quad4", quad4},
                                           {"servers6", servers6},
                                           {"workstation2", workstation2}}};

} // namespace

std::optional<Topology> synthetic_topology(std::string_view profile) {
  for (const Profile &known : profiles)
    if (profile == known.name) return known.build();
  return std::nullopt;
}

std::vector<std::string> synthetic_names() {
  std::vector<std::string> names;
  for (const Profile &profile : profiles) names.emplace_back(profile.name);
  return names;
}

} // namespace harmony
