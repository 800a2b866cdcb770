#include "src/reward/reward_rows.h"

#include "src/encode/scale.h"
#include "src/values/gpu_speed.h"

#include <algorithm>
#include <cmath>

namespace harmony {

namespace column = reward_column;

namespace {

constexpr double a_few = 8, most_turns = 16;

// How many exchanges of parameters a job has across the network of one of its nodes: of PS with workers elsewhere, and
// of workers with PS elsewhere; of a ring one.
double exchanges(bool distributed, int workers, int ps, int workers_all, int ps_all) {
  if (!distributed) return 0;
  if (ps_all <= 0) return workers > 0 ? 1 : 0;
  const double of_ps = static_cast<double>(ps) / ps_all;
  return of_ps * std::max(0, workers_all - workers) + workers * (1 - of_ps);
}

// How many of the workers here share a GPU, when the job has `gpus_all`.
double turns(int workers, int gpus, int workers_all, int gpus_all) {
  if (workers <= 0 || gpus_all <= 0) return 1;
  if (gpus <= 0) return most_turns; // they compute on the CPU
  const int needed = workers * std::max(1, gpus_all / std::max(1, workers_all));
  return std::ceil(static_cast<double>(needed) / gpus);
}

bool same_row(const SparseRows &rows, int one, int other) {
  return std::equal(rows.entries.begin() + static_cast<std::ptrdiff_t>(rows.begin(one)),
                    rows.entries.begin() + static_cast<std::ptrdiff_t>(rows.end(one)),
                    rows.entries.begin() + static_cast<std::ptrdiff_t>(rows.begin(other)),
                    rows.entries.begin() + static_cast<std::ptrdiff_t>(rows.end(other)));
}

} // namespace

const RewardEncoder::Layout *RewardEncoder::layout(const Topology *topology) {
  if (!topology) return nullptr;
  const auto known = layouts_.find(topology);
  if (known != layouts_.end()) return &known->second;
  Layout made;
  made.domain_gpus.resize(topology->domains.size());
  made.has_nic.resize(topology->domains.size());
  for (const Domain &domain : topology->domains) {
    const auto numa = static_cast<std::size_t>(domain.numa);
    made.domain_socket.push_back(numa < topology->numa.size() ? topology->numa[numa].socket : 0);
  }
  for (const Gpu &gpu : topology->gpus) {
    const auto domain = static_cast<std::size_t>(gpu.domain);
    made.domain.push_back(gpu.domain);
    made.socket.push_back(domain < made.domain_socket.size() ? made.domain_socket[domain] : 0);
    made.speed.push_back(static_cast<float>(harmony::gpu_speed(gpu.model)));
    if (domain < made.domain_gpus.size()) ++made.domain_gpus[domain];
  }
  for (const Nic &nic : topology->nics) {
    made.nic_mbps += nic.speed_mbps;
    if (static_cast<std::size_t>(nic.domain) < made.has_nic.size())
      made.has_nic[static_cast<std::size_t>(nic.domain)] = true;
  }
  return &layouts_.emplace(topology, std::move(made)).first->second;
}

void RewardEncoder::tell_of_gpus(const RewardPlace &place, const Layout &layout) {
  double slowest = 4;
  for (const int gpu : each(place.gpus)) {
    const auto at = static_cast<std::size_t>(gpu);
    if (at >= layout.domain.size()) continue;
    if (std::find(my_domains_.begin(), my_domains_.end(), layout.domain[at]) == my_domains_.end())
      my_domains_.push_back(layout.domain[at]);
    slowest = std::min<double>(slowest, layout.speed[at]);
  }
  own_[column::domains_here] = part(static_cast<double>(my_domains_.size()), place.gpus.count());
  own_[column::two_sockets] = flag(lying(place.gpus, layout, -1, -1).two_sockets);
  if (!my_domains_.empty()) own_[column::gpu_speed] = part(slowest, 4);
}

RewardEncoder::Lying RewardEncoder::lying(const Bits &gpus, const Layout &layout, int domain, int socket) {
  Lying found;
  int first_socket = -1;
  for (const int gpu : each(gpus)) {
    const auto at = static_cast<std::size_t>(gpu);
    if (at >= layout.domain.size()) continue;
    ++found.all;
    found.in_domain += layout.domain[at] == domain;
    found.on_socket += layout.socket[at] == socket;
    found.two_sockets |= first_socket >= 0 && first_socket != layout.socket[at];
    first_socket = layout.socket[at];
  }
  return found;
}

// Who else is here, and what of it is near the job's GPUs of this domain (-1: none).
void RewardEncoder::tell_of_others(const RewardPlace &place, const Layout *layout, int domain) {
  int distributed = 0, held = 0, near = 0;
  const int in_domain = domain >= 0 ? layout->domain_gpus[static_cast<std::size_t>(domain)] : 0,
            socket = domain >= 0 ? layout->domain_socket[static_cast<std::size_t>(domain)] : -1;
  for (const RewardTenant &tenant : place.beside) {
    const int gpus = tenant.gpus ? tenant.gpus->count() : 0;
    distributed += tenant.distributed;
    held += gpus;
    by_type(reward_group::beside, tenant.type) +=
        place.node_gpus ? part(gpus, place.node_gpus) : part(tenant.workers, a_few);
    by_type(reward_group::crossing, tenant.type) +=
        part(exchanges(tenant.distributed, tenant.workers, tenant.ps, tenant.workers_all, tenant.ps_all), a_few);
    by_type(reward_group::servers, tenant.type) += part(tenant.ps, a_few);
    if (domain < 0 || !tenant.gpus) continue;
    const Lying its = lying(*tenant.gpus, *layout, domain, socket);
    near += its.in_domain;
    by_type(reward_group::same_domain, tenant.type) += part(its.in_domain, in_domain);
    by_type(reward_group::same_socket, tenant.type) += part(its.on_socket, place.node_gpus);
    by_type(reward_group::leaves, tenant.type) += part(its.leaving(tenant.distributed, tenant.ps_all), a_few);
    if (its.two_sockets) by_type(reward_group::sockets, tenant.type) += part(1, a_few);
  }
  own_[column::tenants] = scaled_log(static_cast<double>(place.beside.size()), 16);
  own_[column::distributed] = scaled_log(distributed, 8);
  own_[column::gpus_beside] = part(held, place.node_gpus);
  own_[column::domain_beside] = part(near, in_domain);
}

void RewardEncoder::tell_of_domain(const RewardJob &job, const RewardPlace &place, const Layout &layout, int domain) {
  const auto at = static_cast<std::size_t>(domain);
  const Lying mine = lying(place.gpus, layout, domain, layout.domain_socket[at]);
  own_[column::domain_held] = part(mine.in_domain, layout.domain_gpus[at]);
  own_[column::leaving] = scaled_log(mine.leaving(job.nodes > 1, job.ps), 16);
  own_[column::nic_near] = flag(layout.has_nic[at]);
}

// `gpus_all`: on all its nodes.
void RewardEncoder::tell_of_place(const RewardJob &job, int gpus_all, const RewardPlace &place, const Layout *layout) {
  const int gpus = place.gpus.count();
  own_[column::workers] = scaled_log(job.workers, 64);
  own_[column::ps] = scaled_log(job.ps, 64);
  own_[column::nodes] = scaled_log(job.nodes, 64);
  own_[column::one_node] = flag(job.nodes <= 1);
  own_[column::model_size] = scaled_log(job.model_kb / 1024, 100000);
  own_[column::model_size_known] = flag(job.model_kb > 0);
  own_[column::gpus_per_worker] = scaled_log(static_cast<double>(gpus) / std::max(1, place.workers), 16);
  own_[column::turns] = scaled_log(turns(place.workers, gpus, job.workers, gpus_all) - 1, most_turns);
  own_[column::workers_here] = part(place.workers, job.workers);
  own_[column::tasks_here] = scaled_log(place.workers + place.ps, 16);
  own_[column::ps_here] = part(place.ps, job.ps);
  own_[column::ps_alone] = flag(place.ps > 0 && place.workers == 0);
  own_[column::exchanged] = scaled_log(exchanges(job.nodes > 1, place.workers, place.ps, job.workers, job.ps), 16);
  own_[column::gpus_here] = part(gpus, place.node_gpus);
  own_[column::node_gpus] = scaled_log(place.node_gpus, 16);
  own_[column::nic_speed] = layout ? scaled_log(layout->nic_mbps, 400000) : 0;
  my_domains_.clear();
  if (layout) tell_of_gpus(place, *layout);
}

// Each job once, however many nodes it shares.
void RewardEncoder::count_jobs(const std::vector<RewardPlace> &places) {
  seen_.clear();
  jobs_.clear();
  for (const RewardPlace &place : places)
    for (const RewardTenant &tenant : place.beside) {
      if (std::find(seen_.begin(), seen_.end(), tenant.job) != seen_.end()) continue;
      seen_.push_back(tenant.job);
      const int at = reward_group::jobs * types_ + tenant.type;
      const auto same = std::find_if(jobs_.begin(), jobs_.end(), [at](const auto &each) { return each.first == at; });
      if (same == jobs_.end())
        jobs_.emplace_back(at, 1.f);
      else
        same->second += 1;
    }
}

void RewardEncoder::put_row(const RewardJob &job, int first, SparseRows &rows) {
  by_type(reward_group::me, job.type) = 1;
  for (const auto &[at, count] : jobs_) by_type_[static_cast<std::size_t>(at)] = part(count, a_few);
  for (int i = 0; i < column::count; ++i)
    if (own_[i] != 0) rows.entries.emplace_back(i, own_[i]);
  for (std::size_t i = 0; i < by_type_.size(); ++i) {
    if (by_type_[i] == 0) continue;
    // Rounded, because sums in another order differ in the last digits.
    rows.entries.emplace_back(column::count + static_cast<int>(i),
                              std::round(std::min(1.f, by_type_[i]) * 65536) / 65536);
    by_type_[i] = 0;
  }
  rows.ends.push_back(rows.entries.size());
  const int last = rows.count() - 1;
  for (int other = first; other < last; ++other)
    if (same_row(rows, other, last)) {
      rows.entries.resize(rows.begin(last));
      rows.ends.pop_back();
      return;
    }
}

void RewardEncoder::append(const RewardJob &job, const std::vector<RewardPlace> &places, SparseRows &rows) {
  const int first = rows.count();
  int gpus = 0;
  for (const RewardPlace &place : places) gpus += place.gpus.count();
  count_jobs(places);
  for (const RewardPlace &place : places) {
    const Layout *its = layout(place.topology);
    std::fill(std::begin(own_), std::end(own_), 0.f);
    tell_of_place(job, gpus, place, its);
    if (my_domains_.empty()) my_domains_.push_back(-1);
    for (const int domain : my_domains_) {
      if (domain >= 0) tell_of_domain(job, place, *its, domain);
      tell_of_others(place, its, domain);
      put_row(job, first, rows);
    }
  }
}

} // namespace harmony
