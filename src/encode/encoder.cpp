#include "src/encode/encoder.h"

#include "src/encode/scale.h"

#include <algorithm>

namespace harmony {

Encoder::Encoder(const Cluster &cluster, const TypeIndex &types)
    : cluster_(cluster), types_(types), node_encoder_(types) {
  states_.resize(static_cast<std::size_t>(cluster.size()), -1);
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
  int &state = states_[static_cast<std::size_t>(node)];
  if (state >= 0 && --uses_[static_cast<std::size_t>(state)] == 0) --live_;
  state = intern(encoding);
  if (uses_[static_cast<std::size_t>(state)]++ == 0) ++live_;
  NodeLoad &load = loads_[static_cast<std::size_t>(node)];
  if (!by_load_.empty()) by_load_.erase(load);
  load = {encoding.nic_load + encoding.link_load + encoding.disk_load + part(encoding.held_cores, encoding.cores),
          hash(state), node};
  if (!by_load_.empty()) by_load_.insert(load);
}

const std::set<NodeLoad> &Encoder::by_load() const {
  if (by_load_.empty()) {
    std::vector<NodeLoad> all = loads_;
    std::sort(all.begin(), all.end());
    for (const NodeLoad &load : all) by_load_.insert(by_load_.end(), load);
  }
  return by_load_;
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
  const int known = table_.find(hash, [&](int state) { return this->state(state) == encoding; });
  if (known >= 0) return known;
  distinct_.push_back(encoding);
  uses_.push_back(0);
  return table_.add(hash);
}

} // namespace harmony
