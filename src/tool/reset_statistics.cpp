#include "src/tool/reset_statistics.h"

#include "plugin/client/controller.h"
#include "src/tool/ask_engine.h"
#include "src/values/printable.h"

#include <fmt/format.h>
#include <json/json.h>

#include <sstream>

namespace harmony {
namespace {

int failed(int code, const std::string &problem) {
  fmt::print(stderr, "harmony status --reset: {}\n", problem);
  return code;
}

} // namespace

int reset_statistics() {
  const ControllerReport report = ask_controller();
  if (!report.answered) return failed(1, fmt::format("slurmctld does not answer: {}", report.problem));
  if (report.harmony.empty()) return failed(3, "slurmctld runs its own plugins; `harmony status` says why");
  const EngineAnswer answer = ask_engine(report, "reset");
  if (!answer.problem.empty())
    return failed(1, fmt::format("{}; counts are reset on slurmctld's host, {}, in a mode other than off",
                                 answer.problem, one_line(report.host)));
  Json::Value reply;
  std::istringstream stream(answer.text);
  std::string errors;
  if (!Json::parseFromStream(Json::CharReaderBuilder(), stream, &reply, &errors) || !reply.isObject())
    return failed(1, "the engine's answer cannot be read");
  if (reply.isMember("problem")) return failed(1, one_line(reply["problem"].asString()));
  return 0;
}

} // namespace harmony
