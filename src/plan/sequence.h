// Task by task: each where the scores say, until the component is whole or does not fit.
#pragma once

#include "src/plan/choose_nodes.h"

#include <optional>
#include <vector>

namespace harmony {

// The best place on one node for one more task.
struct Spot {
  double score = 0; // higher is better
  int domain = -1;  // of the node's topology; -1: anywhere on it
};

// Scores what a sequence asks for; asked from one thread.
class SpotScores {
public:
  virtual ~SpotScores() = default;

  // On nodes that have no task of the component yet, by class. Classes that are left out are not considered.
  struct Fresh {
    int of_class = 0;
    Spot spot;
  };
  virtual std::vector<Fresh> fresh(const Rooms &rooms, bool for_ps) = 0;

  // On a node that has some. `more`: so many tasks of the role are to come, this one among them.
  virtual Spot again(const NodeClass &node, const Share &here, bool for_ps, int more) = 0;

  // Questions of that kind will come about these nodes: whoever answers many at once as fast as one may do so now.
  struct Again {
    const NodeClass *node = nullptr;
    Share here;
  };
  virtual void expect(const std::vector<Again> &questions, bool for_ps, int more) = 0;

  // The next task goes to that spot of a node that has `here` so far.
  virtual void chosen(const NodeClass &node, const Share &here, const Spot &spot) = 0;
};

// Workers first. Among equals the lower weight, then the first node. At most `most_nodes` nodes (0: as the component
// says).
std::optional<Shares> in_sequence(const Rooms &rooms, const Component &component, int most_nodes, SpotScores &scores);

} // namespace harmony
