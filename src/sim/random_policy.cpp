#include "src/sim/random_policy.h"

#include "src/policy/policies.h"
#include "src/sim/random.h"

#include <algorithm>
#include <optional>
#include <vector>

namespace harmony {
namespace {

struct Seat {
  const NodeClass *like = nullptr;
  Share has;

  int tasks() const { return has.workers + has.ps; }
  bool takes(bool ps) const { return tasks() < like->tasks && (ps ? has.ps < like->ps : has.workers < like->workers); }
};

// Task by task. Nodes that the component must use come first, then as many others as it needs at least.
class Drawing {
public:
  Drawing(const Rooms &rooms, const Component &component, Random &random) : component_(component), random_(random) {
    for (const NodeClass &each : rooms.classes)
      for (int node = each.first; node >= 0; node = rooms.next[static_cast<std::size_t>(node)]) {
        seats_.push_back({&each, {}});
        seats_.back().has.node = node;
      }
    std::sort(seats_.begin(), seats_.end(), [](const Seat &a, const Seat &b) { return a.has.node < b.has.node; });
    most_ = component.max_nodes ? component.max_nodes : static_cast<int>(seats_.size());
    // Every node of such a job holds as many GPUs, so more nodes would be more than it asked for.
    if (component.gpus.per_node)
      if (const auto fewest = fewest_nodes(rooms, component, {})) most_ = static_cast<int>(fewest->size());
  }

  bool run() {
    for (int i = 0; i < component_.tasks(); ++i)
      if (!draw(i >= component_.workers)) return false;
    return used_ >= component_.min_nodes && std::all_of(seats_.begin(), seats_.end(), [](const Seat &one) {
             return !one.like->required || one.tasks();
           });
  }

  Shares shares() const {
    Shares made;
    for (const Seat &each : seats_)
      if (each.tasks() > 0) made.push_back(each.has);
    return made;
  }

private:
  bool draw(bool ps) {
    std::vector<Seat *> open;
    const bool required_open =
        std::any_of(seats_.begin(), seats_.end(), [](const Seat &one) { return one.like->required && !one.tasks(); });
    for (Seat &each : seats_) {
      if (!each.takes(ps)) continue;
      if (required_open && !(each.like->required && !each.tasks())) continue;
      if (each.tasks() ? used_ < component_.min_nodes : used_ >= most_) continue;
      open.push_back(&each);
    }
    if (open.empty()) return false;
    Seat &seat = *open[static_cast<std::size_t>(random_.below(static_cast<int>(open.size())))];
    used_ += seat.tasks() == 0;
    ++(ps ? seat.has.ps : seat.has.workers);
    return true;
  }

  const Component &component_;
  Random &random_;
  std::vector<Seat> seats_;
  int used_ = 0, most_ = 0;
};

class RandomPolicy : public Policy {
public:
  explicit RandomPolicy(std::uint64_t seed) : seed_(seed) {}
  const char *name() const override { return "random"; }

  Proposal propose(const Cluster &cluster, const Gang &gang, bool) const override {
    GangPlacer placer(cluster, gang, false);
    Random random(seed_, "place", gang.job);
    auto plan = placer.by(
        [&random](const Rooms &rooms, const Component &component) -> std::optional<Shares> {
          Drawing drawing(rooms, component, random);
          if (drawing.run()) return drawing.shares();
          return fewest_nodes(rooms, component, {}); // it fits, but not as drawn
        },
        false);
    if (!plan) return no_room_for(placer);
    return place_at({packed(cluster, std::move(*plan), "drawn")}, "each task on a random node with room");
  }

private:
  const std::uint64_t seed_;
};

} // namespace

std::unique_ptr<Policy> make_random(std::uint64_t seed) { return std::make_unique<RandomPolicy>(seed); }

} // namespace harmony
