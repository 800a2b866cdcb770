#include "src/tool/send_usage.h"

#include "plugin/client/node_extra.h"

#include <chrono>
#include <thread>

namespace harmony {
namespace {

constexpr int tries = 6;
constexpr std::chrono::seconds first_pause(2); // doubled each time

NodeExtra send_once(const StepUsage &usage) {
  return change_node_extra(usage.node, [&usage](std::string_view extra) { return with_usage(extra, usage); });
}

} // namespace

std::string send_usage(const StepUsage &usage, const std::function<void(const std::string &problem)> &not_yet) {
  NodeExtra answer = send_once(usage);
  auto pause = first_pause;
  for (int i = 1; i < tries && answer.try_again; ++i, pause *= 2) {
    if (i == 1) not_yet(answer.problem);
    std::this_thread::sleep_for(pause);
    answer = send_once(usage);
  }
  return answer.problem;
}

} // namespace harmony
