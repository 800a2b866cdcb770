#include "src/encode/gang_features.h"

#include "src/encode/scale.h"
#include "src/encode/schema.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace harmony {
namespace {

namespace column = gang_column;

constexpr double long_queue = 32; // gangs; a longer one changes nothing any more

struct OnNode {
  int workers = 0;
  int ps = 0;
  int gpus = 0;
  Bits which;
};

std::map<int, OnNode> by_node(const Plan &plan) {
  std::map<int, OnNode> nodes;
  for (const Placement &placement : plan.placements) {
    OnNode &here = nodes[placement.node];
    here.workers += placement.workers;
    here.ps += placement.ps;
    here.gpus += placement.gpus.count();
    here.which.join(placement.gpus);
  }
  return nodes;
}

int domains_of(const NodeState &node, const Bits &gpus) {
  if (!node.topology) return gpus.any() ? 1 : 0;
  std::vector<int> domains;
  for (const int gpu : each(gpus))
    if (static_cast<std::size_t>(gpu) < node.topology->gpus.size())
      domains.push_back(node.topology->gpus[static_cast<std::size_t>(gpu)].domain);
  std::sort(domains.begin(), domains.end());
  return static_cast<int>(std::unique(domains.begin(), domains.end()) - domains.begin());
}

// Whether a GPU of these is in the domain.
bool uses(const NodeState &node, const Bits &gpus, int domain) {
  for (const int gpu : each(gpus))
    if (node.topology && static_cast<std::size_t>(gpu) < node.topology->gpus.size() &&
        node.topology->gpus[static_cast<std::size_t>(gpu)].domain == domain)
      return true;
  return false;
}

// Sums over the gang's nodes.
struct Met {
  int nodes = 0, with_ps = 0, broken = 0, distributed = 0, domains = 0, gpus = 0, left_over = 0, node_gpus = 0;
  int ps = 0, ps_with_workers = 0;
  double nic = 0, pcie = 0, cpu = 0;
  int next_end = 32;
  std::vector<double> types;
};

void meet(const Encoder &encoder, int index, const OnNode &mine, Met &met) {
  const NodeEncoding &encoding = encoder.of_node(index);
  const NodeState &node = encoder.cluster().node(index);
  const int left_over = encoding.free_gpus - mine.gpus;
  ++met.nodes;
  met.with_ps += mine.ps > 0;
  met.broken += encoding.tenants == 0 && left_over > 0;
  met.distributed += encoding.distributed > 0;
  met.domains += domains_of(node, mine.which);
  met.gpus += mine.gpus;
  met.left_over += std::max(0, left_over);
  met.node_gpus += encoding.gpus;
  met.ps += mine.ps;
  met.ps_with_workers += mine.workers > 0 ? mine.ps : 0;
  met.nic = std::max<double>(met.nic, encoding.nic_load);
  met.cpu = std::max<double>(met.cpu, part(encoding.held_cores, encoding.cores));
  for (const DomainEncoding &domain : encoding.domains)
    if (domain.pcie_load > met.pcie && uses(node, mine.which, domain.domain)) met.pcie = domain.pcie_load;
  met.next_end = std::min(met.next_end, encoding.next_end);
  const double whole = encoding.gpus ? encoding.gpus : encoding.cores;
  for (std::size_t type = 0; type < met.types.size(); ++type) met.types[type] += part(encoding.types[type], whole);
}

} // namespace

std::vector<float> gang_row(const Encoder &encoder, const Gang &gang, const Plan &plan, const Predicted &predicted,
                            const Circumstances &circumstances) {
  Met met;
  met.types.assign(static_cast<std::size_t>(encoder.types().count()), 0);
  for (const auto &[index, mine] : by_node(plan)) meet(encoder, index, mine, met);
  const ClusterTotals &totals = encoder.totals();
  const double slowdown = 1 / std::max(0.01, predicted.speed) - 1;

  std::vector<float> row(column::count + met.types.size(), 0);
  row[column::nodes] = scaled_log(met.nodes, 256);
  row[column::nodes_beyond] = part(met.nodes - circumstances.nodes_at_least, met.nodes);
  row[column::speed] = part(predicted.speed, 1);
  row[column::slowdown] = part(slowdown, 2);
  row[column::doubt] = part(predicted.doubt, 1);
  row[column::harm] = part(predicted.harm, 2);
  row[column::delay] = part(predicted.delay, 2);
  row[column::queue_delay] = part((slowdown + predicted.gpu_delay) * gang.gpus() * circumstances.queue.gangs,
                                  4.0 * static_cast<double>(totals.gpus));
  row[column::displaced] = scaled_log(circumstances.displaced, 16);
  row[column::lost_by_queue] = part(slowdown + predicted.harm, 2) * part(circumstances.queue.gangs, long_queue);
  row[column::left_over] = part(met.left_over, met.node_gpus);
  row[column::nodes_broken] = part(met.broken, met.nodes);
  row[column::domains] = part(met.domains, met.gpus);
  row[column::distributed_met] = met.nodes > 1 ? part(met.distributed, met.nodes) : 0;
  row[column::nic_load] = scaled_log(met.nic, load_cap);
  row[column::pcie_load] = scaled_log(met.pcie, load_cap);
  row[column::cpu_load] = part(met.cpu, 1);
  row[column::ps_with_workers] = met.ps ? part(met.ps_with_workers, met.ps) : 1;
  row[column::ps_nodes] = part(met.with_ps, met.nodes);
  row[column::free_after] = part(static_cast<double>(totals.free_gpus) - met.gpus, static_cast<double>(totals.gpus));
  row[column::next_end] = part(met.next_end, 32);
  for (std::size_t type = 0; type < met.types.size(); ++type)
    row[column::count + type] = part(std::round(met.types[type] * 65536) / 65536, met.nodes);
  return row;
}

std::vector<float> wait_row(const Encoder &encoder, const Gang &gang, const Circumstances &circumstances) {
  std::vector<float> row(static_cast<std::size_t>(column::count + encoder.types().count()), 0);
  const ClusterTotals &totals = encoder.totals();
  const std::time_t now = encoder.cluster().now();
  const auto until_end = totals.next_end ? static_cast<double>(totals.next_end - now) : a_week_s;
  const double limit_s = std::max(60.0, 60.0 * gang.time_limit_min), twice_s = 2 * circumstances.usual_s;
  const auto waited = static_cast<double>(now - gang.eligible_since), free = static_cast<double>(totals.free_gpus);
  row[column::wait] = 1;
  row[column::next_end] = totals.next_end ? part(std::round(scaled_log(until_end, a_week_s) * 32), 32) : 1;
  row[column::wait_next_end] = part(circumstances.next_end_s, twice_s);
  row[column::wait_opening] = part(circumstances.opening_s, twice_s);
  row[column::wait_clear] = flag(circumstances.opening_s <= 0);
  row[column::wait_age] = part(waited, limit_s);
  row[column::wait_waited] = part(waited, circumstances.max_wait_s);
  row[column::wait_queue] = part(circumstances.queue.gangs, long_queue);
  row[column::wait_shorter] = part(circumstances.shorter.gangs, circumstances.queue.gangs);
  row[column::wait_shorter_gpus] = part(static_cast<double>(circumstances.shorter.gpus), free);
  row[column::wait_limit] = scaled_log(gang.time_limit_min, 43200);
  row[column::wait_gpus] = part(gang.gpus(), free);
  row[column::wait_size] = part(gang.gpus(), static_cast<double>(totals.gpus));
  row[column::wait_spans] = scaled_log(circumstances.nodes_at_least, 256);
  row[column::wait_free] = part(free, static_cast<double>(totals.gpus));
  return row;
}

} // namespace harmony
