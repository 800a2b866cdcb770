#include "src/publish/topology_store.h"

#include <unordered_set>

namespace harmony {

bool TopologyStore::is_news(const std::string &node, const std::string &published, std::uint64_t gres_signature) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = entries_.find(node);
  return found == entries_.end() || found->second.gres_signature != gres_signature ||
         found->second.published != published;
}

std::shared_ptr<const NodeTopology> TopologyStore::update(const NodeFacts &facts, std::uint64_t gres_signature) {
  auto topology = std::make_shared<const NodeTopology>(topology_of(facts));
  const std::lock_guard<std::mutex> lock(mutex_);
  ++updates_;
  if (!topology->problem.empty()) ++refused_;
  entries_[facts.name] = {facts.published, gres_signature, topology};
  return topology;
}

void TopologyStore::keep_only(const std::vector<std::string> &nodes) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (entries_.size() <= nodes.size()) return; // every node is entered before, so none can be left over
  const std::unordered_set<std::string> names(nodes.begin(), nodes.end());
  for (auto entry = entries_.begin(); entry != entries_.end();)
    entry = names.count(entry->first) ? std::next(entry) : entries_.erase(entry);
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
