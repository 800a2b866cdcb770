// Putting what was seen of a step into its node's Extra field.
#pragma once

#include "src/observe/usage.h"

#include <chrono>
#include <functional>
#include <random>
#include <string>

namespace harmony {

// Every update of a node takes slurmctld's write locks and wakes its scheduler, and a step ends on all its nodes at
// once. So each node of a large step waits for a part of this time, of `nodes` 20 a second on average; those of a small
// one need not.
constexpr std::chrono::milliseconds longest_pause(unsigned nodes) {
  return std::chrono::milliseconds(nodes > 16 ? 50LL * nodes : 0);
}

// A part of it by chance, any as likely as another, also on nodes that draw in the same moment.
inline std::chrono::milliseconds random_pause(unsigned nodes) {
  std::random_device chance;
  std::uniform_int_distribution<long long> pause(0, longest_pause(nodes).count());
  return std::chrono::milliseconds(pause(chance));
}

// Puts it behind what is in the field already. While slurmctld does not answer it is tried again, a few times within a
// few minutes at most; `not_yet` is told why after the first time. Empty, or why it could not be sent.
std::string send_usage(const StepUsage &usage, const std::function<void(const std::string &problem)> &not_yet);

} // namespace harmony
