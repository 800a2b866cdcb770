#include "src/policy/by_reward.h"
#include "src/sim/oracle/oracle.h"
#include "src/sim/oracle/oracle_model.h"

namespace harmony {

std::unique_ptr<Policy> make_oracle_greedy(const Truth &rules) {
  return make_by_reward({"oracle-greedy", "the largest sum of speeds, by the truth"},
                        std::make_unique<TrueModel>(rules));
}

} // namespace harmony
