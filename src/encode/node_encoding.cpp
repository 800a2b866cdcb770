#include "src/encode/node_encoding.h"

#include "src/encode/scale.h"
#include "src/plan/choose_gpus.h"

#include <algorithm>
#include <cstring>
#include <tuple>

namespace harmony {
namespace {

constexpr double undeclared_kb = 100 * 1024;
constexpr double large_kb = 1024 * 1024;

// Of several sockets: what crosses from the smaller part to the larger.
double crossing(const std::vector<int> &on_socket) {
  int sum = 0, largest = 0;
  for (const int gpus : on_socket) {
    sum += gpus;
    largest = std::max(largest, gpus);
  }
  return sum - largest;
}

std::uint64_t mixed(std::uint64_t hash, std::uint64_t word) {
  hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
  return hash ^ (hash >> 29);
}

std::uint64_t bits_of(float value) {
  std::uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

auto counts_of(const NodeEncoding &e) {
  return std::tie(e.gpus, e.free_gpus, e.cores, e.held_cores, e.tenants, e.distributed, e.next_end, e.weight,
                  e.mixed_models, e.link_load, e.nic_load, e.disk_load, e.nic_mbps);
}

} // namespace

TypeIndex::TypeIndex(const std::vector<std::string> &types) {
  for (const std::string &type : types) index_.emplace(type, static_cast<int>(index_.size()) + 1);
}

int TypeIndex::of(const std::string &type) const {
  const auto found = index_.find(type);
  return found == index_.end() ? 0 : found->second;
}

bool DomainEncoding::operator==(const DomainEncoding &other) const {
  return domain == other.domain && gpus == other.gpus && free == other.free && pcie_load == other.pcie_load &&
         bridge_load == other.bridge_load;
}

bool NodeEncoding::operator==(const NodeEncoding &other) const {
  return counts_of(*this) == counts_of(other) && domains == other.domains && types == other.types;
}

std::size_t hash_of(const NodeEncoding &e) {
  std::uint64_t hash = 17;
  for (const int count :
       {e.gpus, e.free_gpus, e.cores, e.held_cores, e.tenants, e.distributed, e.next_end, e.weight, e.mixed_models})
    hash = mixed(hash, static_cast<std::uint64_t>(count));
  for (const float load : {e.link_load, e.nic_load, e.disk_load, e.nic_mbps}) hash = mixed(hash, bits_of(load));
  for (const DomainEncoding &domain : e.domains) {
    hash = mixed(hash, static_cast<std::uint64_t>(domain.free) << 32 | static_cast<std::uint64_t>(domain.domain));
    hash = mixed(hash, bits_of(domain.pcie_load) << 32 | bits_of(domain.bridge_load));
  }
  for (const float held : e.types) hash = mixed(hash, bits_of(held));
  return static_cast<std::size_t>(hash);
}

TopologyLayout layout_of(const Topology &topology) {
  TopologyLayout layout;
  std::vector<int> place(topology.domains.size(), -1), bridge_place(topology.domains.size(), -1);
  layout.sockets = std::max(1, topology.sockets);
  for (const Gpu &gpu : topology.gpus) {
    const auto domain = static_cast<std::size_t>(gpu.domain);
    if (place[domain] < 0) {
      place[domain] = static_cast<int>(layout.domains.size());
      layout.domains.push_back(gpu.domain);
      int &bridge = bridge_place[static_cast<std::size_t>(host_bridge(topology, gpu.domain))];
      if (bridge < 0) bridge = layout.bridges++;
      layout.bridge.push_back(bridge);
    }
    layout.gpu_domain.push_back(place[domain]);
    const auto numa = static_cast<std::size_t>(topology.domains[domain].numa);
    layout.gpu_socket.push_back(numa < topology.numa.size() ? topology.numa[numa].socket : 0);
  }
  for (const Nic &nic : topology.nics) layout.nic_mbps += nic.speed_mbps;
  return layout;
}

const JobLoad &NodeEncoder::load_of(const Cluster &cluster, const Tenant &tenant) {
  std::vector<JobLoad> &known = tenant.running >= 0 ? running_ : planned_;
  const auto index = static_cast<std::size_t>(tenant.running >= 0 ? tenant.running : -1 - tenant.running);
  JobLoad unknown;
  unknown.type = -1;
  if (known.size() <= index) known.resize(2 * index + 1, unknown);
  JobLoad &load = known[index];
  if (load.type >= 0) return load;
  const Running &job = cluster.job_of(tenant);
  load.type = types_.of(job.type);
  load.distributed = job.distributed();
  load.exchanged = std::min(1.0, (job.model_kb ? job.model_kb : undeclared_kb) / large_kb);
  load.by_ps = job.ps > 0 ? static_cast<double>(job.workers) / job.ps : 0;
  load.ends = job.ends;
  return load;
}

const TopologyLayout *NodeEncoder::layout(const NodeState &node) {
  const Topology *topology = gpu_topology(node);
  if (!topology || topology->domains.empty()) return nullptr;
  const auto known = layouts_.find(topology);
  if (known != layouts_.end()) return &known->second;
  return &layouts_.emplace(topology, layout_of(*topology)).first->second;
}

void NodeEncoder::begin(const NodeState &node, const TopologyLayout *layout) {
  NodeEncoding &e = encoding_;
  e.gpus = node.free_gpus.size();
  e.free_gpus = 0;
  e.cores = node.free_cores.size();
  e.held_cores = e.distributed = 0;
  e.tenants = static_cast<int>(node.tenants.size());
  e.weight = node.weight;
  e.mixed_models = std::adjacent_find(node.gpu_models.begin(), node.gpu_models.end(), std::not_equal_to<>()) !=
                   node.gpu_models.end();
  e.link_load = e.nic_load = e.disk_load = 0;
  e.nic_mbps = layout ? static_cast<float>(layout->nic_mbps) : 0;
  const std::size_t domains = layout ? layout->domains.size() : 0;
  e.domains.assign(domains, {});
  e.types.assign(count_ * (1 + domains), 0);
  pcie_.assign(domains, 0);
  bridge_.assign(layout ? static_cast<std::size_t>(layout->bridges) : 0, 0);
  for (std::size_t i = 0; i < domains; ++i) e.domains[i].domain = layout->domains[i];
  for (int gpu = 0; gpu < e.gpus; ++gpu) {
    const bool free = node.free_gpus.test(gpu) && !is_lost(node, gpu);
    e.free_gpus += free;
    if (!layout) continue;
    DomainEncoding &domain = e.domains[static_cast<std::size_t>(layout->gpu_domain[static_cast<std::size_t>(gpu)])];
    ++domain.gpus;
    domain.free += free;
  }
}

void NodeEncoder::add_gpus(const Tenant &tenant, const TopologyLayout &layout, const JobLoad &job) {
  on_socket_.assign(static_cast<std::size_t>(layout.sockets), 0);
  for (const int gpu : each(tenant.gpus)) {
    if (static_cast<std::size_t>(gpu) >= layout.gpu_domain.size()) continue;
    const auto domain = static_cast<std::size_t>(layout.gpu_domain[static_cast<std::size_t>(gpu)]);
    pcie_[domain] += job.exchanged;
    bridge_[static_cast<std::size_t>(layout.bridge[domain])] += job.exchanged;
    encoding_.types[count_ * (1 + domain) + static_cast<std::size_t>(job.type)] += 1;
    const auto socket = static_cast<std::size_t>(layout.gpu_socket[static_cast<std::size_t>(gpu)]);
    if (socket < on_socket_.size()) ++on_socket_[socket];
  }
}

void NodeEncoder::add_tenant(const NodeState &node, const Tenant &tenant, const JobLoad &job,
                             const TopologyLayout *layout) {
  const int gpus = tenant.gpus.count();
  NodeEncoding &e = encoding_;
  e.held_cores += tenant.cores;
  e.types[static_cast<std::size_t>(job.type)] += static_cast<float>(node.free_gpus.size() ? gpus : tenant.cores);
  e.disk_load += static_cast<float>(tenant.workers > 0 ? tenant.workers : gpus);
  e.distributed += job.distributed;
  if (job.distributed) e.nic_load += static_cast<float>(job.exchanged * (tenant.workers + job.by_ps * tenant.ps));
  if (!layout) return;
  add_gpus(tenant, *layout, job);
  e.link_load += static_cast<float>(job.exchanged * crossing(on_socket_));
}

const NodeEncoding &NodeEncoder::encode(const Cluster &cluster, int index) {
  const NodeState &node = cluster.node(index);
  const TopologyLayout *its_layout = layout(node);
  begin(node, its_layout);
  double next_end = a_week_s;
  for (const Tenant &tenant : node.tenants) {
    const JobLoad &job = load_of(cluster, tenant);
    add_tenant(node, tenant, job, its_layout);
    next_end = std::min(next_end, static_cast<double>(job.ends - cluster.now()));
  }
  NodeEncoding &e = encoding_;
  e.next_end = static_cast<int>(std::lround(scaled_log(next_end, a_week_s) * 32));
  e.link_load = steady(e.link_load);
  e.nic_load = steady(e.nic_load);
  for (std::size_t i = 0; i < e.domains.size(); ++i) {
    e.domains[i].pcie_load = steady(pcie_[i]);
    e.domains[i].bridge_load = steady(bridge_[static_cast<std::size_t>(its_layout->bridge[i])]);
  }
  return e;
}

} // namespace harmony
