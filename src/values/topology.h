// A node's topology: which GPUs, NICs and disks hang below which PCIe switch, host bridge, NUMA node and socket, and
// how GPUs are linked. A plain value: discovered on the node, published in compact form, read by placement.
//
// Indices are positions in the vectors here; cores are numbered as Slurm numbers them: logically, socket by socket.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace harmony {

struct CoreRange { // both ends included
  int first = 0;
  int last = 0;
  bool operator==(const CoreRange &other) const { return first == other.first && last == other.last; }
};

// A NUMA node with cores. Memory-only ones (a GPU's memory on Grace Hopper, say) are not listed.
struct NumaNode {
  int socket = 0;
  std::vector<CoreRange> cores; // ascending, apart
  std::uint32_t memory_mb = 0;
};

enum class DomainKind { host_bridge, pcie_switch };

// What shares one way to the CPU: everything below one host bridge, or below one PCIe switch within it. Domains are a
// forest: the roots are host bridges, a switch's parent is the switch or host bridge above it, and stands before it in
// the list.
struct Domain {
  DomainKind kind = DomainKind::host_bridge;
  int parent = -1; // of a switch; -1 for a host bridge
  int numa = 0;
};

struct Gpu {
  int domain = 0; // the nearest switch, or the host bridge
  std::string model;
  std::uint32_t memory_mb = 0;
  bool mig = false;
  bool lost =
      false; // the driver cannot reach it: no job can run there. It keeps its place, since Slurm counts it still

  // Known on the node only; not published, because placement has no use for them.
  std::string uuid;
  std::string bus_id; // 0000:3b:00.0
  std::string device; // /dev/nvidia0
  int pcie_generation = 0;
  int pcie_width = 0;
};

struct Nic {
  int domain = 0;
  std::uint32_t speed_mbps = 0; // 0: unknown
  std::string name;             // not published
};

struct Disk {
  int domain = 0;
  std::string name; // not published
};

// NVLinks between two GPUs, first < second.
struct Link {
  int first = 0;
  int second = 0;
  int count = 0;
  bool operator==(const Link &other) const {
    return first == other.first && second == other.second && count == other.count;
  }
};

// Where a topology comes from, best first.
enum class TopologySource { nvml, hwloc, xml, synthetic, published, gres_conf, none };

struct Topology {
  TopologySource source = TopologySource::none;
  int sockets = 1;
  std::vector<NumaNode> numa;
  std::vector<Domain> domains;
  std::vector<Gpu> gpus; // in PCI bus order, which is how Slurm and CUDA (CUDA_DEVICE_ORDER=PCI_BUS_ID) number them
  std::vector<Nic> nics;
  std::vector<Disk> disks;
  std::vector<Link> links; // ascending by (first, second); none with a count of 0
};

// How two GPUs reach each other, nearest first, in the words of `nvidia-smi topo -m` (NV# is the links' count, told
// apart by nvlinks()).
enum class Reach {
  self, // X
  pix,  // through one PCIe switch
  pxb,  // through several PCIe switches, not through a host bridge
  phb,  // through a host bridge
  node, // between host bridges of one NUMA node
  sys,  // between NUMA nodes
};

Reach reach(const Topology &topology, int gpu, int other_gpu);

// NVLinks between the two, 0 if none.
int nvlinks(const Topology &topology, int gpu, int other_gpu);

// X, NV4, PIX, PXB, PHB, NODE or SYS: NVLink goes before the way through PCIe.
std::string reach_word(const Topology &topology, int gpu, int other_gpu);

// The host bridge that a domain is below (itself if it is one).
int host_bridge(const Topology &topology, int domain);

const char *source_name(TopologySource source);

// Whether all that placement uses is the same in both; what is known on the node only does not count.
bool same_for_placement(const Topology &one, const Topology &other);

// What is wrong with a topology that was read from somewhere; empty if it is sound. Every index in range, parents
// before children, ranges ascending, at most the sizes below.
std::string problem_with(const Topology &topology);

constexpr int max_sockets = 64;
constexpr int max_numa = 256;
constexpr int max_cores = 65536;
constexpr int max_domains = 512;
constexpr int max_gpus = 256;
constexpr int max_devices = 512; // NICs, or disks
constexpr int max_links = 35;    // between two GPUs
constexpr int max_model_length = 48;

// A GPU's model as we write it everywhere: a to z, digits and _ . + - only, so that it can stand in gres.conf and in
// the compact form as it is.
bool is_model_name(const std::string &text);

} // namespace harmony
