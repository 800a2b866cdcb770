#include "src/values/topology.h"

#include <fmt/format.h>

#include <algorithm>

namespace harmony {
namespace {

// The domains from one up to its host bridge.
std::vector<int> way_up(const Topology &topology, int domain) {
  std::vector<int> way;
  for (; domain >= 0; domain = topology.domains[domain].parent) way.push_back(domain);
  return way;
}

Reach reach_between_domains(const Topology &topology, int one, int other) {
  const std::vector<int> way = way_up(topology, one), other_way = way_up(topology, other);
  for (int domain : way) {
    if (std::find(other_way.begin(), other_way.end(), domain) == other_way.end()) continue;
    if (topology.domains[domain].kind == DomainKind::host_bridge) return Reach::phb;
    return domain == one && domain == other ? Reach::pix : Reach::pxb;
  }
  return topology.domains[one].numa == topology.domains[other].numa ? Reach::node : Reach::sys;
}

bool in_range(int index, std::size_t size) { return index >= 0 && static_cast<std::size_t>(index) < size; }

bool sound_cores(const std::vector<CoreRange> &cores) {
  int next = 0;
  for (const CoreRange &range : cores) {
    if (range.first < next || range.last < range.first || range.last >= max_cores) return false;
    next = range.last + 2; // neighbouring ranges would be one
  }
  return true;
}

std::string problem_with_sizes(const Topology &topology) {
  const auto over = [](const char *what, std::size_t count, std::size_t limit) {
    return count > limit ? fmt::format("{} {}, at most {} are allowed", count, what, limit) : std::string();
  };
  if (topology.sockets < 1 || topology.sockets > max_sockets) return fmt::format("{} sockets", topology.sockets);
  for (const std::string &problem :
       {over("NUMA nodes", topology.numa.size(), max_numa), over("domains", topology.domains.size(), max_domains),
        over("GPUs", topology.gpus.size(), max_gpus), over("NICs", topology.nics.size(), max_devices),
        over("disks", topology.disks.size(), max_devices)})
    if (!problem.empty()) return problem;
  return {};
}

std::string problem_with_domains(const Topology &topology) {
  for (std::size_t i = 0; i < topology.domains.size(); ++i) {
    const Domain &domain = topology.domains[i];
    if (!in_range(domain.numa, topology.numa.size())) return fmt::format("domain {}: no NUMA node {}", i, domain.numa);
    const bool root = domain.kind == DomainKind::host_bridge;
    if (root ? domain.parent != -1 : !in_range(domain.parent, i))
      return fmt::format("domain {}: parent {} does not stand before it", i, domain.parent);
    if (!root && topology.domains[domain.parent].numa != domain.numa)
      return fmt::format("domain {}: not on the NUMA node of its parent", i);
  }
  return {};
}

template <class Device>
std::string problem_with_devices(const char *what, const std::vector<Device> &devices, std::size_t domains) {
  for (std::size_t i = 0; i < devices.size(); ++i)
    if (!in_range(devices[i].domain, domains)) return fmt::format("{} {}: no domain {}", what, i, devices[i].domain);
  return {};
}

std::string problem_with_links(const Topology &topology) {
  const Link *last = nullptr;
  for (const Link &link : topology.links) {
    if (!in_range(link.first, topology.gpus.size()) || !in_range(link.second, topology.gpus.size()) ||
        link.first >= link.second || link.count < 1 || link.count > max_links)
      return fmt::format("link {}-{}: not between two GPUs, or no sensible count", link.first, link.second);
    if (last && std::make_pair(last->first, last->second) >= std::make_pair(link.first, link.second))
      return fmt::format("link {}-{}: out of order", link.first, link.second);
    last = &link;
  }
  return {};
}

template <class Value, class Same>
bool same_lists(const std::vector<Value> &one, const std::vector<Value> &other, Same same) {
  return std::equal(one.begin(), one.end(), other.begin(), other.end(), same);
}

} // namespace

Reach reach(const Topology &topology, int gpu, int other_gpu) {
  if (gpu == other_gpu) return Reach::self;
  return reach_between_domains(topology, topology.gpus[gpu].domain, topology.gpus[other_gpu].domain);
}

int nvlinks(const Topology &topology, int gpu, int other_gpu) {
  const int first = std::min(gpu, other_gpu), second = std::max(gpu, other_gpu);
  for (const Link &link : topology.links)
    if (link.first == first && link.second == second) return link.count;
  return 0;
}

std::string reach_word(const Topology &topology, int gpu, int other_gpu) {
  if (const int count = nvlinks(topology, gpu, other_gpu)) return fmt::format("NV{}", count);
  switch (reach(topology, gpu, other_gpu)) {
  case Reach::self: return "X";
  case Reach::pix: return "PIX";
  case Reach::pxb: return "PXB";
  case Reach::phb: return "PHB";
  case Reach::node: return "NODE";
  case Reach::sys: break;
  }
  return "SYS";
}

bool is_model_name(const std::string &text) {
  const auto allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '.' || c == '+' || c == '-';
  };
  return text.size() <= max_model_length && std::all_of(text.begin(), text.end(), allowed);
}

int host_bridge(const Topology &topology, int domain) { return way_up(topology, domain).back(); }

const char *source_name(TopologySource source) {
  switch (source) {
  case TopologySource::nvml: return "hwloc and NVML";
  case TopologySource::hwloc: return "hwloc";
  case TopologySource::xml: return "hwloc XML";
  case TopologySource::synthetic: return "synthetic";
  case TopologySource::published: return "published";
  case TopologySource::gres_conf: return "gres.conf";
  case TopologySource::none: break;
  }
  return "none";
}

bool same_for_placement(const Topology &one, const Topology &other) {
  return one.sockets == other.sockets && one.links == other.links &&
         same_lists(one.numa, other.numa,
                    [](const NumaNode &a, const NumaNode &b) {
                      return a.socket == b.socket && a.cores == b.cores && a.memory_mb == b.memory_mb;
                    }) &&
         same_lists(one.domains, other.domains,
                    [](const Domain &a, const Domain &b) {
                      return a.kind == b.kind && a.parent == b.parent && a.numa == b.numa;
                    }) &&
         same_lists(one.gpus, other.gpus,
                    [](const Gpu &a, const Gpu &b) {
                      return a.domain == b.domain && a.model == b.model && a.memory_mb == b.memory_mb &&
                             a.mig == b.mig && a.lost == b.lost;
                    }) &&
         same_lists(one.nics, other.nics,
                    [](const Nic &a, const Nic &b) { return a.domain == b.domain && a.speed_mbps == b.speed_mbps; }) &&
         same_lists(one.disks, other.disks, [](const Disk &a, const Disk &b) { return a.domain == b.domain; });
}

std::string problem_with(const Topology &topology) {
  if (std::string problem = problem_with_sizes(topology); !problem.empty()) return problem;
  for (std::size_t i = 0; i < topology.numa.size(); ++i) {
    if (!in_range(topology.numa[i].socket, topology.sockets))
      return fmt::format("NUMA node {}: no socket {}", i, topology.numa[i].socket);
    if (!sound_cores(topology.numa[i].cores)) return fmt::format("NUMA node {}: cores out of order or range", i);
  }
  if (std::string problem = problem_with_domains(topology); !problem.empty()) return problem;
  const std::size_t domains = topology.domains.size();
  for (const std::string &problem :
       {problem_with_devices("GPU", topology.gpus, domains), problem_with_devices("NIC", topology.nics, domains),
        problem_with_devices("disk", topology.disks, domains)})
    if (!problem.empty()) return problem;
  for (std::size_t i = 0; i < topology.gpus.size(); ++i)
    if (!is_model_name(topology.gpus[i].model)) return fmt::format("GPU {}: not a model name", i);
  return problem_with_links(topology);
}

} // namespace harmony
