// Whole gangs: every component placed one after another, down to cores and GPUs, or nothing. What policies share.
#pragma once

#include "src/plan/choose_nodes.h"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace harmony {

// Places one gang in several ways; what is known of the nodes is found once. For one gang and one policy's question.
class GangPlacer {
public:
  enum class Of { now, empty_cluster };
  GangPlacer(const Cluster &cluster, const Gang &gang, bool know_distributed, Of of = Of::now);

  // From now on nodes of different states (by node) are not alike: NodeClass::state. They must outlive the placer.
  void tell_apart(const std::vector<int> &states);

  // How the nodes for one component are chosen; it is given the nodes as the components before it leave them.
  using Way = std::function<std::optional<Shares>(const Rooms &, const Component &)>;
  // Components share nodes as far as the way does, unless they are wanted apart.
  std::optional<Plan> by(const Way &way, bool components_apart);

  // Where the component has room while nothing of the gang is placed. Good until the next question; not for a Way,
  // which is given its own.
  const Rooms &rooms_of(int component);

  // Components share nodes where they can, unless PS are wanted apart.
  std::optional<Plan> fewest(const Choice &choice);
  // By turns; a gang whose limits on nodes keep that from working out gets the fewest nodes instead.
  std::optional<Plan> by_turns(const std::function<Score(const Rooms &, const Component &)> &scorer);

  const Cluster &cluster() const { return view_.cluster(); }

  // No fewer nodes can hold it, however empty they are.
  int nodes_at_least();

  // What it would need, one sentence.
  std::string what_is_short();

private:
  bool place_component(int index, const Way &way, bool apart, Plan &plan);
  bool arrange_all(int index, const Shares &shares, Plan &plan);
  const Rooms &rooms(int index, const std::vector<int> &beside);

  const Gang &gang_;
  const bool know_distributed_;
  View view_;
  const std::vector<int> *states_ = nullptr;
  std::map<int, Rooms> known_; // by component, for as long as nothing is taken
  Rooms latest_;
};

// Distinct nodes of the plan, ascending.
std::vector<int> nodes_of(const Plan &plan);

// GPUs left over on the plan's nodes.
int gpus_stranded(const Cluster &cluster, const Plan &plan);

// "n1 2+1, n2 1+0"
std::string nodes_text(const Plan &plan);

// "2 nodes", "1 GPU"
std::string counted(int count, const char *what);

} // namespace harmony
