#include "src/encode/candidate_features.h"

#include "src/encode/scale.h"
#include "src/encode/schema.h"

#include <algorithm>
#include <cstring>

namespace harmony {

namespace column = candidate_column;

CandidateRows::CandidateRows(const Encoder &encoder, const Gang &gang, const Component &component, const Rooms &rooms,
                             bool for_ps)
    : encoder_(encoder), component_(component), rooms_(rooms), for_ps_(for_ps),
      task_gpus_(for_ps ? rooms.gpus_per_ps : rooms.gpus_per_worker), types_(encoder.types().count()),
      width_(column::count + 2 * types_), gang_workers_(gang.workers()), gang_ps_(gang.ps()) {}

// A domain is a choice only if the GPUs of one task are: not of jobs that take GPUs by node, nor where other parts of
// the gang took some, or only some models will do.
bool CandidateRows::domains_matter(const NodeClass &node, const NodeEncoding &encoding) const {
  return task_gpus_ > 0 && !for_ps_ && !rooms_.gpus_per_node && !component_.whole_nodes && !node.beside &&
         (component_.gpus.model.empty() || !encoding.mixed_models);
}

int CandidateRows::free_in(const DomainEncoding &domain, const Share &here) const {
  const auto index = static_cast<std::size_t>(domain.domain);
  const int mine = index < here.workers_in.size() ? here.workers_in[index] : 0;
  return domain.free - mine * task_gpus_;
}

void CandidateRows::append(const NodeClass &node, const Share &here, Rows &rows, std::vector<int> &domains) const {
  const NodeEncoding &encoding = encoder_.state(node.state);
  const std::size_t first = rows.values.size(), width = static_cast<std::size_t>(width_);
  const auto add = [&](int place) {
    const std::size_t at = rows.values.size();
    rows.values.resize(at + width, 0);
    float *row = rows.values.data() + at;
    if (at == first)
      tell_of_node(node, encoding, here, row);
    else
      std::memcpy(row, rows.values.data() + first, width * sizeof(float));
    tell_of_domain(encoding, here, place, row);
    // Domains alike are one candidate, the first of them.
    for (std::size_t other = first; other < at; other += width)
      if (std::memcmp(rows.values.data() + other, row, width * sizeof(float)) == 0) return rows.values.resize(at);
    domains.push_back(place < 0 ? -1 : encoding.domains[static_cast<std::size_t>(place)].domain);
    ++rows.count;
  };
  rows.width = width_;
  if (domains_matter(node, encoding))
    for (std::size_t i = 0; i < encoding.domains.size(); ++i)
      if (free_in(encoding.domains[i], here) >= task_gpus_) add(static_cast<int>(i));
  if (rows.values.size() == first) add(-1);
}

void CandidateRows::tell_of_node(const NodeClass &node, const NodeEncoding &encoding, const Share &here,
                                 float *row) const {
  const int tasks_here = here.workers + here.ps;
  const int used = tasks_here ? rooms_.gpus_for(here.workers, here.ps) : 0;
  const int free = std::min(encoding.free_gpus, node.free_gpus) - used;
  int takes = rooms_.gpus_per_node && tasks_here ? 0 : rooms_.gpus_for(!for_ps_, for_ps_);
  if (component_.whole_nodes) takes = free;
  const double cores = static_cast<double>(tasks_here * rooms_.cpus_per_task) / node.threads_per_core;
  const int room = std::min(node.tasks - tasks_here, for_ps_ ? node.ps - here.ps : node.workers - here.workers);
  int whole = 0, largest = 0, domains = 0;
  for (const DomainEncoding &domain : encoding.domains) {
    domains += domain.gpus > 0;
    whole += domain.gpus > 0 && free_in(domain, here) == domain.gpus;
    largest = std::max(largest, free_in(domain, here));
  }
  row[column::gpus] = scaled_log(encoding.gpus, 16);
  row[column::free_gpus] = part(free, encoding.gpus);
  row[column::free_cores] = part(node.free_cores - cores, node.cores);
  row[column::free_memory] = part(node.free_memory, 64);
  row[column::free_domains] = part(whole, domains);
  row[column::largest_domain] = part(encoding.domains.empty() ? free : largest, encoding.gpus);
  row[column::room] = part(room, for_ps_ ? component_.ps : component_.workers);
  row[column::left_after] = part(free - takes, encoding.gpus);
  row[column::tenants] = scaled_log(encoding.tenants, 16);
  row[column::distributed] = scaled_log(encoding.distributed, 8);
  row[column::link_load] = scaled_log(encoding.link_load, load_cap);
  row[column::nic_load] = scaled_log(encoding.nic_load, load_cap);
  row[column::cpu_load] = part(encoding.held_cores, encoding.cores);
  row[column::disk_load] = scaled_log(encoding.disk_load, load_cap);
  row[column::nic_speed] = scaled_log(encoding.nic_mbps, 400000);
  row[column::next_end] = part(encoding.next_end, 32);
  row[column::weight] = scaled_log(encoding.weight, 1000);
  row[column::workers_here] = part(here.workers, gang_workers_);
  row[column::ps_here] = part(here.ps, gang_ps_);
  row[column::new_node] = flag(tasks_here == 0 && !node.beside);
  const double whole_node = encoding.gpus ? encoding.gpus : encoding.cores;
  for (int type = 0; type < types_; ++type)
    row[column::count + type] = part(encoding.types[static_cast<std::size_t>(type)], whole_node);
}

void CandidateRows::tell_of_domain(const NodeEncoding &encoding, const Share &here, int place, float *row) const {
  float *held = row + column::count + types_;
  if (place < 0) {
    row[column::domain_gpus] = row[column::gpus];
    row[column::domain_free] = row[column::free_gpus];
    row[column::domain_left_after] = row[column::left_after];
    for (const DomainEncoding &domain : encoding.domains) {
      row[column::pcie_load] = std::max(row[column::pcie_load], scaled_log(domain.pcie_load, load_cap));
      row[column::bridge_load] = std::max(row[column::bridge_load], scaled_log(domain.bridge_load, load_cap));
    }
    std::copy(row + column::count, row + column::count + types_, held);
    return;
  }
  const DomainEncoding &domain = encoding.domains[static_cast<std::size_t>(place)];
  const int free = free_in(domain, here);
  const auto index = static_cast<std::size_t>(domain.domain);
  row[column::domain_gpus] = scaled_log(domain.gpus, 16);
  row[column::domain_free] = part(free, domain.gpus);
  row[column::domain_left_after] = part(free - task_gpus_, domain.gpus);
  row[column::in_domain] = 1;
  row[column::pcie_load] = scaled_log(domain.pcie_load, load_cap);
  row[column::bridge_load] = scaled_log(domain.bridge_load, load_cap);
  row[column::workers_in_domain] =
      part(index < here.workers_in.size() ? here.workers_in[index] : 0, component_.workers);
  const auto types = static_cast<std::size_t>(types_);
  for (std::size_t type = 0; type < types; ++type)
    held[type] = part(encoding.types[types * (1 + static_cast<std::size_t>(place)) + type], domain.gpus);
}

} // namespace harmony
