#include "src/publish/topology_store.h"

namespace harmony {

bool TopologyStore::is_news(const std::string &node, const char *extra, std::uint64_t gres_signature) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = entries_.find(node);
  return found == entries_.end() || found->second.gres_signature != gres_signature ||
         found->second.extra != (extra ? extra : "");
}

std::shared_ptr<const NodeTopology> TopologyStore::update(const NodeFacts &facts, std::uint64_t gres_signature) {
  auto topology = std::make_shared<const NodeTopology>(topology_of(facts));
  const std::lock_guard<std::mutex> lock(mutex_);
  ++updates_;
  if (!topology->problem.empty()) ++refused_;
  entries_[facts.name] = {facts.extra, gres_signature, topology};
  return topology;
}

std::shared_ptr<const NodeTopology> TopologyStore::find(const std::string &node) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = entries_.find(node);
  return found == entries_.end() ? nullptr : found->second.topology;
}

TopologyStore::Counts TopologyStore::counts() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  Counts counts;
  counts.nodes = entries_.size();
  counts.updates = updates_;
  counts.refused = refused_;
  for (const auto &[name, entry] : entries_) {
    counts.published += entry.topology->topology.source == TopologySource::published;
    counts.gres_conf += entry.topology->topology.source == TopologySource::gres_conf;
    counts.none += entry.topology->topology.source == TopologySource::none;
  }
  return counts;
}

} // namespace harmony
