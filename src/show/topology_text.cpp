#include "src/show/topology_text.h"

#include "src/values/printable.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace harmony {
namespace {

constexpr const char *legend = "Legend:\n"
                               "  X     the GPU itself\n"
                               "  NV#   # NVLinks between the two\n"
                               "  PIX   through one PCIe switch\n"
                               "  PXB   through several PCIe switches, not through a host bridge\n"
                               "  PHB   through one PCIe host bridge\n"
                               "  NODE  between host bridges of one NUMA node\n"
                               "  SYS   between NUMA nodes\n";

std::string counted(std::size_t count, const char *what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

// A value that trails off into nothing when it is unknown.
std::string after_space(const std::string &text) { return text.empty() ? "" : "  " + text; }

class Tree {
public:
  explicit Tree(const Topology &topology) : topology_(topology) {
    for (const Gpu &gpu : topology.gpus) model_width_ = std::max(model_width_, gpu.model.size());
  }

  std::string text() {
    for (int socket = 0; socket < topology_.sockets; ++socket) {
      line(0, fmt::format("socket {}", socket));
      for (std::size_t i = 0; i < topology_.numa.size(); ++i)
        if (topology_.numa[i].socket == socket) numa(static_cast<int>(i));
    }
    return text_;
  }

private:
  void line(int depth, const std::string &what) {
    fmt::format_to(std::back_inserter(text_), "{:{}}{}\n", "", 2 * depth,
                   what.substr(0, what.find_last_not_of(' ') + 1));
  }

  void numa(int index) {
    const NumaNode &node = topology_.numa[index];
    const std::string cores = node.cores.empty() ? "no cores" : "cores " + core_list(node.cores);
    line(1, fmt::format("NUMA node {}: {}, {}", index, cores, memory_text(node.memory_mb)));
    for (std::size_t i = 0; i < topology_.domains.size(); ++i)
      if (topology_.domains[i].numa == index && topology_.domains[i].parent == -1) domain(static_cast<int>(i), 2);
  }

  void domain(int index, int depth) {
    const bool bridge = topology_.domains[index].kind == DomainKind::host_bridge;
    line(depth, fmt::format("{} (domain {})", bridge ? "host bridge" : "PCIe switch", index));
    devices(index, depth + 1);
    for (std::size_t i = index; i < topology_.domains.size(); ++i)
      if (topology_.domains[i].parent == index) domain(static_cast<int>(i), depth + 1);
  }

  void devices(int domain, int depth) {
    for (std::size_t i = 0; i < topology_.gpus.size(); ++i)
      if (topology_.gpus[i].domain == domain) line(depth, gpu(i));
    for (std::size_t i = 0; i < topology_.nics.size(); ++i) {
      const Nic &nic = topology_.nics[i];
      if (nic.domain == domain)
        line(depth,
             fmt::format("NIC {:<2}{}{}", i, after_space(one_line(nic.name)), after_space(speed_text(nic.speed_mbps))));
    }
    for (std::size_t i = 0; i < topology_.disks.size(); ++i)
      if (topology_.disks[i].domain == domain)
        line(depth, fmt::format("disk {:<2}{}", i, after_space(one_line(topology_.disks[i].name))));
  }

  std::string gpu(std::size_t index) const {
    const Gpu &gpu = topology_.gpus[index];
    return fmt::format("GPU {:<2}  {:<{}}  {:>7}{}{}{}", index, one_line(gpu.model), model_width_,
                       memory_text(gpu.memory_mb),
                       gpu.lost  ? "  LOST"
                       : gpu.mig ? "  MIG"
                                 : "",
                       after_space(one_line(gpu.bus_id)), after_space(pcie_text(gpu)));
  }

  const Topology &topology_;
  std::size_t model_width_ = 0;
  std::string text_;
};

std::string matrix(const Topology &topology) {
  const int gpus = static_cast<int>(topology.gpus.size());
  const auto numa_of = [&](int gpu) { return topology.domains[topology.gpus[gpu].domain].numa; };
  std::size_t cores_width = std::string("CPU cores").size();
  for (const NumaNode &node : topology.numa) cores_width = std::max(cores_width, core_list(node.cores).size());

  std::string text = fmt::format("{:<6}", "");
  for (int i = 0; i < gpus; ++i) text += fmt::format("{:<6}", fmt::format("GPU{}", i));
  text += fmt::format("{:<{}}  NUMA\n", "CPU cores", cores_width);
  for (int i = 0; i < gpus; ++i) {
    text += fmt::format("{:<6}", fmt::format("GPU{}", i));
    for (int j = 0; j < gpus; ++j) text += fmt::format("{:<6}", (i == j ? " " : "") + reach_word(topology, i, j));
    text += fmt::format("{:<{}}  {}\n", core_list(topology.numa[numa_of(i)].cores), cores_width, numa_of(i));
  }
  return text;
}

} // namespace

std::string topology_text(const Topology &topology, const std::string &host) {
  std::string text =
      fmt::format("{}: {} (source: {})\n\n", one_line(host), topology_summary(topology), source_name(topology.source));
  text += Tree(topology).text();
  if (topology.gpus.empty()) return text + "\nThis node has no GPU.\n";
  return text + "\n" + matrix(topology) + "\n" + legend;
}

std::string topology_summary(const Topology &topology) {
  int cores = 0;
  for (const NumaNode &node : topology.numa) cores += core_count(node.cores);
  return fmt::format("{}, {}, {}, {}", counted(topology.sockets, "socket"), counted(topology.numa.size(), "NUMA node"),
                     counted(cores, "core"), counted(topology.gpus.size(), "GPU"));
}

std::string xml_escaped(std::string_view text) {
  std::string safe;
  for (char c : one_line(text)) {
    switch (c) {
    case '<': safe += "&lt;"; break;
    case '>': safe += "&gt;"; break;
    case '&': safe += "&amp;"; break;
    case '"': safe += "&quot;"; break;
    case '\'': safe += "&#39;"; break;
    default: safe += c;
    }
  }
  return safe;
}

std::string core_list(const std::vector<CoreRange> &cores) {
  std::string list;
  for (const CoreRange &range : cores) {
    if (!list.empty()) list += ',';
    list += range.first == range.last ? fmt::format("{}", range.first) : fmt::format("{}-{}", range.first, range.last);
  }
  return list;
}

int core_count(const std::vector<CoreRange> &cores) {
  int count = 0;
  for (const CoreRange &range : cores) count += range.last - range.first + 1;
  return count;
}

std::string memory_text(std::uint32_t memory_mb) {
  if (memory_mb < 1024) return fmt::format("{} MiB", memory_mb);
  return fmt::format("{:.0f} GiB", memory_mb / 1024.0);
}

std::string speed_text(std::uint32_t speed_mbps) {
  if (speed_mbps == 0) return {};
  if (speed_mbps < 1000) return fmt::format("{} Mb/s", speed_mbps);
  return fmt::format("{:g} Gb/s", speed_mbps / 1000.0);
}

std::string pcie_text(const Gpu &gpu) {
  if (gpu.pcie_generation <= 0) return {};
  return fmt::format("PCIe {}", gpu.pcie_generation) + (gpu.pcie_width > 0 ? fmt::format(" x{}", gpu.pcie_width) : "");
}

} // namespace harmony
