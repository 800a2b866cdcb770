#include "src/tool/publish_topology.h"

#include "plugin/client/node_extra.h"
#include "src/publish/compact.h"
#include "src/publish/extra_field.h"

#include <fmt/format.h>

#include <chrono>
#include <thread>

namespace harmony {
namespace {

using Clock = std::chrono::steady_clock;

// Calls `ask` until it has an answer, or the time is over.
template <class Ask> NodeExtra patiently(Clock::time_point until, Ask ask) {
  for (;;) {
    const NodeExtra answer = ask();
    if (!answer.try_again || Clock::now() >= until) return answer;
    std::this_thread::sleep_for(std::chrono::seconds(1));
  }
}

} // namespace

Publication publish_topology(const std::string &node, const Topology &topology, int wait_seconds) {
  Publication done;
  const std::string word = compact_form(topology);
  if (word.size() > max_compact_size) {
    done.problem =
        fmt::format("{} bytes, at most {} are published; nothing was changed", word.size(), max_compact_size);
    return done;
  }
  const Clock::time_point until = Clock::now() + std::chrono::seconds(wait_seconds);
  const NodeExtra after = patiently(until, [&] {
    return change_node_extra(node, [&](std::string_view before) {
      std::string extra = with_topology_word(before, word);
      // An answer that was lost on its way may have changed it before.
      done.changed = done.changed || extra != before;
      return extra;
    });
  });
  if (!after.problem.empty()) done.problem = after.problem + "; nothing was published";
  return done;
}

} // namespace harmony
