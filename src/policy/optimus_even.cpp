// Optimus (EuroSys'18): servers by free capacity, the fewest of the largest that hold the gang, and on them workers and
// PS as evenly as there is room.

#include "src/policy/policies.h"

#include <algorithm>
#include <optional>
#include <tuple>

namespace harmony {
namespace {

struct Server {
  const NodeClass *like = nullptr;
  Share has;

  int most(bool ps) const { return ps ? like->ps : like->workers; }
  int count(bool ps) const { return ps ? has.ps : has.workers; }
  bool takes(bool ps) const { return count(ps) < most(ps) && has.workers + has.ps < like->tasks; }
};

// The largest first; before those what it must use, and where the gang is already.
std::vector<Server> by_capacity(const Rooms &rooms) {
  std::vector<const NodeClass *> classes;
  for (const NodeClass &each : rooms.classes) classes.push_back(&each);
  const auto key = [](const NodeClass *one) {
    return std::make_tuple(!one->required, !one->beside, -one->free_gpus, -one->free_cores, one->first);
  };
  std::sort(classes.begin(), classes.end(), [&](const auto *a, const auto *b) { return key(a) < key(b); });
  std::vector<Server> servers;
  for (const NodeClass *one : classes)
    for (int node = one->first; node >= 0; node = rooms.next[static_cast<std::size_t>(node)]) {
      Server server;
      server.like = one;
      server.has.node = node;
      servers.push_back(server);
    }
  return servers;
}

// One task after another to the server with the fewest of its role, then of all.
bool deal(std::vector<Server> &servers, int tasks, bool ps) {
  for (; tasks > 0; --tasks) {
    Server *best = nullptr;
    for (Server &each : servers) {
      if (!each.takes(ps)) continue;
      const auto key = [ps](const Server &one) { return std::make_pair(one.count(ps), one.has.workers + one.has.ps); };
      if (!best || key(each) < key(*best)) best = &each;
    }
    if (!best) return false;
    ++(ps ? best->has.ps : best->has.workers);
  }
  return true;
}

} // namespace

std::optional<Shares> even_on_fewest(const Rooms &rooms, const Component &component) {
  if (rooms.required_missing >= 0) return std::nullopt;
  const std::vector<Server> all = by_capacity(rooms);
  const auto required = std::count_if(all.begin(), all.end(), [](const Server &one) { return one.like->required; });
  int most = std::min(static_cast<int>(all.size()), component.tasks());
  if (component.max_nodes) most = std::min(most, component.max_nodes);
  int room = 0;
  for (int nodes = 1; nodes <= most; ++nodes) {
    room += all[static_cast<std::size_t>(nodes - 1)].like->tasks;
    if (room < component.tasks() || nodes < component.min_nodes || nodes < required) continue;
    std::vector<Server> servers(all.begin(), all.begin() + nodes);
    if (!deal(servers, component.workers, false) || !deal(servers, component.ps, true)) continue;
    Shares shares;
    for (const Server &each : servers)
      if (each.has.workers + each.has.ps > 0) shares.push_back(each.has);
    if (static_cast<int>(shares.size()) < std::max(component.min_nodes, static_cast<int>(required))) continue;
    std::sort(shares.begin(), shares.end(), [](const Share &a, const Share &b) { return a.node < b.node; });
    return shares;
  }
  // By capacity alone its limits on nodes can stay unmet.
  return fewest_nodes(rooms, component, {});
}

namespace {

class OptimusEven : public Policy {
public:
  const char *name() const override { return "optimus-even"; }

  Proposal propose(const Cluster &cluster, const Gang &gang, bool) const override {
    GangPlacer placer(cluster, gang, false);
    auto best = placer.by(even_on_fewest, false);
    if (!best) return no_room_for(placer);
    return place_at({packed(cluster, std::move(*best), "evenly on the fewest")},
                    "evenly on the fewest of the nodes with most room");
  }
};

} // namespace

std::unique_ptr<Policy> make_optimus_even() { return std::make_unique<OptimusEven>(); }

} // namespace harmony
