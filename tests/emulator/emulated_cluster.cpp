#include "tests/emulator/emulated_cluster.h"

#include "src/sim/truth/contention.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

namespace harmony {

EmulatedCluster::EmulatedCluster(const std::string &scenario_name)
    : scenario(make_scenario(scenario_name)), rules(make_contention(scenario.cluster, types)),
      best(scenario.cluster, types, *rules) {
  // tests/cluster names its nodes so, whatever the scenario does.
  for (std::size_t i = 0; i < scenario.cluster.nodes.size(); ++i)
    scenario.cluster.nodes[i].name = fmt::format("n{}", i);
}

int EmulatedCluster::node(const std::string &name) const {
  const std::vector<NodeState> &nodes = scenario.cluster.nodes;
  for (std::size_t i = 0; i < nodes.size(); ++i)
    if (nodes[i].name == name) return static_cast<int>(i);
  return -1;
}

int EmulatedCluster::told_epochs(const SimJob &job) {
  return static_cast<int>(std::clamp(std::round(best.seconds(job) / 60), 1.0, 100000.0));
}

double real_now_s() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

} // namespace harmony
