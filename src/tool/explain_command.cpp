#include "src/tool/explain_command.h"

#include "plugin/client/controller.h"
#include "plugin/client/job_comment.h"
#include "src/show/decision_json.h"
#include "src/show/decision_text.h"
#include "src/show/json_line.h"
#include "src/tool/ask_engine.h"
#include "src/values/job_id.h"
#include "src/values/printable.h"

#include <fmt/format.h>

#include <cstdio>

namespace harmony {
namespace {

int failed(int code, const std::string &problem) {
  fmt::print(stderr, "harmony explain: {}\n", problem);
  return code;
}

// Ours out of a field in which others may write as well; empty if there is none.
std::string our_text(const std::string &comment) {
  const std::size_t from = comment.find(comment_mark);
  if (from == std::string::npos) return {};
  return one_line(comment.substr(from, comment.find('\n', from) - from));
}

std::string summary_json(const std::string &job, const std::string &summary, const std::string &note) {
  Json::Value root;
  root["job"] = job;
  root["summary"] = summary;
  root["note"] = note;
  return json_line(root);
}

// What Slurm itself knows. `why` says why there is no more, `advice` where there is.
int from_comment(const ExplainOptions &options, const std::string &why, const std::string &advice) {
  const JobComment comment = ask_job_comment(options.job);
  const std::string summary = our_text(comment.system_comment);
  const std::string note = advice.empty() ? why : fmt::format("{}; {}", why, advice);
  if (!comment.found) return failed(1, fmt::format("job {}: {} ({})", options.job, comment.problem, note));
  if (summary.empty()) return failed(1, fmt::format("job {}: Slurm has no word of ours on it: {}", options.job, note));
  if (options.json) {
    fmt::print("{}\n", summary_json(options.job, summary, note));
  } else {
    fmt::print("job {}  {}\n", options.job, summary);
    fmt::print(stderr, "harmony explain: note: {}\n", note);
  }
  return 0;
}

} // namespace

int explain(const ExplainOptions &options) {
  if (!read_job_id(options.job))
    return failed(2, fmt::format("'{}' is not the id of a job, such as 17, 17_3 (of a job array) or 17+1 (of a hetjob)",
                                 one_line(options.job, 64)));
  const ControllerReport report = ask_controller();
  if (!report.answered) return failed(1, fmt::format("slurmctld does not answer: {}", report.problem));
  if (report.harmony.empty())
    return failed(3, "slurmctld runs its own plugins, nothing is decided by harmony; `harmony status` says why");

  const std::string elsewhere =
      fmt::format("the whole explanation is available on slurmctld's host, {}", one_line(report.host));
  const EngineAnswer reply = ask_engine(report, "explain " + options.job);
  if (!reply.problem.empty()) {
    const auto mode = report.harmony.find("HarmonyMode");
    if (mode != report.harmony.end() && mode->second == "off")
      return from_comment(options, "harmony_mode is off, nothing is decided now", "");
    return from_comment(options, reply.problem, elsewhere);
  }

  const ExplainAnswer answer = read_explain_answer(reply.text);
  // slurmctld forgets when it is restarted, the job's record does not.
  if (answer.unknown) return from_comment(options, answer.problem, "");
  if (!answer.decision) return failed(1, fmt::format("job {}: {}", options.job, answer.problem));
  if (options.json)
    fmt::print("{}\n", decision_json(*answer.decision));
  else
    fmt::print("{}", decision_text(*answer.decision));
  return 0;
}

} // namespace harmony
