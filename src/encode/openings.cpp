#include "src/encode/openings.h"

#include "src/encode/scale.h"

#include <algorithm>
#include <cmath>

namespace harmony {

// A job is asked about on each of its nodes and for each kind of opening.
double Openings::seconds_left(const Tenant &tenant) {
  const Running &job = cluster_.job_of(tenant);
  const auto guess = [&] { return usual_.seconds_left(types_.of(job.type), job.started, job.ends, cluster_.now(), 1); };
  if (tenant.running < 0) return guess(); // planned in this round
  const auto at = static_cast<std::size_t>(tenant.running);
  if (at >= left_.size()) left_.resize(at + 1, -1);
  if (left_[at] < 0) left_[at] = guess();
  return left_[at];
}

// Of one node, in whole seconds.
float Openings::opens(int index, const Key &key) {
  const NodeState &node = cluster_.node(index);
  const auto [gpus, to_itself] = key;
  int free = node.free_gpus.count();
  if (node.tenants.empty()) return gpus > 0 && node.usable && free >= gpus ? 0 : static_cast<float>(a_week_s);
  ends_.clear();
  for (const Tenant &tenant : node.tenants)
    ends_.push_back({seconds_left(tenant), tenant.gpus.count(), cluster_.job_of(tenant).distributed()});
  std::sort(ends_.begin(), ends_.end(), [](const End &a, const End &b) { return a.at < b.at; });
  const auto capped = [](double seconds) { return static_cast<float>(std::min(a_week_s, std::round(seconds))); };
  if (gpus == 0) return capped(ends_.front().at);
  if (!node.usable) return static_cast<float>(a_week_s);
  double at = 0;
  for (const End &end : ends_) {
    if (free < gpus) at = end.at;
    free += end.gpus;
    if (to_itself && end.distributed) at = end.at;
  }
  return free < gpus ? static_cast<float>(a_week_s) : capped(at);
}

Openings::Kind &Openings::kind(const Key &key) {
  Kind &its = kinds_[key];
  const std::vector<int> &changed = cluster_.changed_nodes();
  if (its.by_node.empty()) {
    for (int node = 0; node < cluster_.size(); ++node) its.by_node.push_back(opens(node, key));
    its.sorted = its.by_node;
    std::sort(its.sorted.begin(), its.sorted.end());
    its.changes_read = changed.size();
  }
  for (; its.changes_read < changed.size(); ++its.changes_read) {
    const int node = changed[its.changes_read];
    float &known = its.by_node[static_cast<std::size_t>(node)];
    its.sorted.erase(std::lower_bound(its.sorted.begin(), its.sorted.end(), known));
    known = opens(node, key);
    its.sorted.insert(std::upper_bound(its.sorted.begin(), its.sorted.end(), known), known);
  }
  return its;
}

double Openings::soonest(int nodes, int gpus, bool to_itself) {
  const Kind &its = kind({std::max(1, gpus), to_itself});
  const auto at = static_cast<std::size_t>(std::max(1, nodes) - 1);
  return at < its.sorted.size() ? static_cast<double>(its.sorted[at]) : a_week_s;
}

double Openings::next_end() {
  const Kind &its = kind({0, false});
  return its.sorted.empty() ? a_week_s : static_cast<double>(its.sorted.front());
}

} // namespace harmony
