// Least interference first: of diverse whole gangs the one that loses least by its neighbours and costs them least, by
// the linear interference rule with assumed rates. It never waits. With fitted rates: fitted_lif.h.

#include "src/policy/policies.h"
#include "src/policy/by_reward.h"

namespace harmony {
std::unique_ptr<Policy> make_lif() {
  return make_by_reward({"lif", "the best predicted speed, less what its neighbours lose"}, make_assumed_reward());
}

} // namespace harmony
