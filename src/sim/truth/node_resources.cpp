#include "src/sim/truth/node_resources.h"

#include "src/values/gpu_speed.h"

#include <algorithm>

namespace harmony {
namespace {

constexpr std::uint32_t usual_nic_mbps = 10000;

std::size_t at(int index) { return static_cast<std::size_t>(index); }

} // namespace

NodeResources::NodeResources(const NodeState &node, int first) : topology_(node.topology), first_(first) {
  if (topology_) {
    domains_ = static_cast<int>(topology_->domains.size());
    sockets_ = std::max(1, topology_->sockets);
    nics_ = std::max(1, static_cast<int>(topology_->nics.size()));
    for (const Gpu &gpu : topology_->gpus) gpu_speeds_.push_back(gpu_speed(gpu.model));
  }
  if (!node.gpu_models.empty()) gpu_speeds_.clear();
  for (const std::string &model : node.gpu_models) gpu_speeds_.push_back(gpu_speed(model));
}

std::vector<double> NodeResources::capacities(const Capacities &all) const {
  std::vector<double> made(at(count()), all.memory);
  for (int domain = 0; domain < domains_; ++domain)
    made[at(domain)] =
        topology_->domains[at(domain)].kind == DomainKind::pcie_switch ? all.pcie_switch : all.host_bridge;
  made[at(link())] = all.socket_link;
  made[at(disk())] = all.disk;
  for (int nic = 0; nic < nics_; ++nic) {
    std::uint32_t mbps = topology_ && !topology_->nics.empty() ? topology_->nics[at(nic)].speed_mbps : 0;
    if (mbps == 0) mbps = usual_nic_mbps;
    made[at(nic_in(nic))] = made[at(nic_out(nic))] = mbps / 8.0 * all.network_efficiency;
  }
  return made;
}

double NodeResources::speed_of_gpu(int gpu) const { return at(gpu) < gpu_speeds_.size() ? gpu_speeds_[at(gpu)] : 1; }

int NodeResources::domain_of_gpu(int gpu) const {
  return topology_ && at(gpu) < topology_->gpus.size() ? topology_->gpus[at(gpu)].domain : -1;
}

int NodeResources::domain_of_nic(int nic) const {
  return topology_ && at(nic) < topology_->nics.size() ? topology_->nics[at(nic)].domain : -1;
}

int NodeResources::domain_of_disk() const {
  return topology_ && !topology_->disks.empty() ? topology_->disks.front().domain : -1;
}

int NodeResources::parent(int domain) const { return topology_->domains[at(domain)].parent; }

int NodeResources::socket(int domain) const {
  return domain < 0 ? 0 : topology_->numa[at(topology_->domains[at(domain)].numa)].socket;
}

bool NodeResources::is_below(int domain, int ancestor) const {
  while (domain >= 0 && domain != ancestor) domain = parent(domain);
  return domain == ancestor;
}

int NodeResources::links(int gpu, int other) const {
  return domain_of_gpu(gpu) < 0 || domain_of_gpu(other) < 0 ? 0 : nvlinks(*topology_, gpu, other);
}

int NodeResources::nearest_nic(int domain) const {
  if (domain < 0) return 0;
  const auto distance = [&](int nic) {
    const int its = domain_of_nic(nic);
    if (its < 0) return 4;
    if (its == domain) return 0;
    if (host_bridge(*topology_, its) == host_bridge(*topology_, domain)) return 1;
    return socket(its) == socket(domain) ? 2 : 3;
  };
  int nearest = 0;
  for (int nic = 1; nic < nics_; ++nic)
    if (distance(nic) < distance(nearest)) nearest = nic;
  return nearest;
}

} // namespace harmony
