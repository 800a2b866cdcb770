#include "src/tool/ask_engine.h"

#include "src/query/local_socket.h"

#include <fmt/format.h>

namespace harmony {

EngineAnswer ask_engine(const ControllerReport &report, const std::string &question) {
  constexpr int answer_limit_ms = 10000;
  LocalAnswer answer = ask_local(query_address(report.state_directory), question, answer_limit_ms);
  if (answer.problem.empty() && answer.server != 0 && answer.server != report.slurm_user)
    answer.problem = fmt::format("the socket is held by uid {}, not by SlurmUser", answer.server);
  return {std::move(answer.text), std::move(answer.problem)};
}

} // namespace harmony
