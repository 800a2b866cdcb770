#include "src/encode/encoder.h"

#include "src/encode/scale.h"

#include <algorithm>

namespace harmony {

Encoder::Encoder(const Cluster &cluster, const TypeIndex &types)
    : cluster_(cluster), types_(types), node_encoder_(types), slots_(1024, -1) {
  states_.resize(static_cast<std::size_t>(cluster.size()));
  loads_.resize(states_.size());
  for (int node = 0; node < static_cast<int>(states_.size()); ++node) {
    encode(node);
    count(node, 1);
  }
  totals_.running = cluster.jobs();
  totals_.next_end = cluster.next_end();
  changes_read_ = cluster.changed_nodes().size();
}

void Encoder::update() {
  const std::vector<int> &changed = cluster_.changed_nodes();
  for (; changes_read_ < changed.size(); ++changes_read_) {
    const int node = changed[changes_read_];
    count(node, -1);
    encode(node);
    count(node, 1);
  }
  totals_.running = cluster_.jobs();
  totals_.next_end = cluster_.next_end();
}

void Encoder::encode(int node) {
  const NodeEncoding &encoding = node_encoder_.encode(cluster_, node);
  states_[static_cast<std::size_t>(node)] = intern(encoding);
  loads_[static_cast<std::size_t>(node)] =
      encoding.nic_load + encoding.link_load + encoding.disk_load + part(encoding.held_cores, encoding.cores);
}

void Encoder::count(int node, int sign) {
  if (!cluster_.node(node).usable) return;
  const NodeEncoding &encoding = of_node(node);
  totals_.nodes += sign;
  totals_.gpus += sign * encoding.gpus;
  totals_.free_gpus += sign * encoding.free_gpus;
  if (encoding.tenants == 0) totals_.free_nodes += sign;
  if (encoding.tenants > 0) totals_.broken_gpus += sign * encoding.free_gpus;
  if (encoding.distributed > 0) totals_.distributed_nodes += sign;
}

int Encoder::intern(const NodeEncoding &encoding) {
  const std::size_t hash = hash_of(encoding);
  std::size_t at = hash & (slots_.size() - 1);
  for (; slots_[at] >= 0; at = (at + 1) & (slots_.size() - 1)) {
    const auto known = static_cast<std::size_t>(slots_[at]);
    if (hashes_[known] == hash && distinct_[known] == encoding) return slots_[at];
  }
  const int fresh = distinct();
  slots_[at] = fresh;
  distinct_.push_back(encoding);
  hashes_.push_back(hash);
  if (distinct_.size() * 2 > slots_.size()) grow();
  return fresh;
}

void Encoder::grow() {
  slots_.assign(slots_.size() * 2, -1);
  for (std::size_t i = 0; i < hashes_.size(); ++i) {
    std::size_t at = hashes_[i] & (slots_.size() - 1);
    while (slots_[at] >= 0) at = (at + 1) & (slots_.size() - 1);
    slots_[at] = static_cast<int>(i);
  }
}

} // namespace harmony
