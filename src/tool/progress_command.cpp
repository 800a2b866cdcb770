#include "src/tool/progress_command.h"

#include "plugin/client/job_progress.h"
#include "plugin/client/slurm_user.h"
#include "src/observe/claim_merge.h"
#include "src/values/job_id.h"
#include "src/values/printable.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <csignal>
#include <cstdlib>
#include <ctime>

namespace harmony {
namespace {

constexpr int not_reported = 1, wrong_usage = 2;
constexpr int interval_s = 10, timeout_s = 8;

std::string variable(const char *name) {
  const char *value = std::getenv(name);
  return value ? value : "";
}

int complain(const ProgressCommand &command, int code, const std::string &problem) {
  if (!command.quiet || code == wrong_usage) fmt::print(stderr, "harmony progress: {}\n", problem);
  return code;
}

// One figure as it was typed. By from_chars, which takes a decimal point in every locale.
std::string read_figure(const char *option, const std::string &text, double most, bool may_be_negative,
                        std::optional<double> &figure) {
  if (text.empty()) return {};
  double value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool is_number = problem == std::errc() && end == text.data() + text.size();
  figure = value;
  if (is_number && value <= most && value >= (may_be_negative ? -most : 0)) return {};
  return fmt::format("{} \"{}\": allowed is a number from {} to {:.0f}", option, printable(text),
                     may_be_negative ? fmt::format("{:.0f}", -most) : "0", most);
}

std::string read_claim(const ProgressCommand &command, Claim &claim) {
  std::optional<double> epoch;
  std::string problem = read_figure("--epoch", command.epoch, most_claimed_epochs, false, epoch);
  if (problem.empty()) problem = read_figure("--of", command.of, most_claimed_epochs, false, claim.of);
  if (problem.empty())
    problem = read_figure("--samples-per-s", command.samples_per_s, most_samples_per_s, false, claim.samples_per_s);
  if (problem.empty()) problem = read_figure("--loss", command.loss, most_loss, true, claim.loss);
  claim.epoch = epoch.value_or(0);
  claim.at = std::time(nullptr);
  return problem.empty() && !epoch ? "--epoch needs a number" : problem;
}

// All components of a hetjob are one gang, which has the first one's id.
std::string own_job() {
  for (const char *name : {"SLURM_HET_JOB_ID", "SLURM_JOB_ID_HET_GROUP_0", "SLURM_JOB_ID"})
    if (const std::string id = variable(name); !id.empty()) return id;
  return {};
}

// One task of a gang speaks for it: worker 0.
bool is_for_others() {
  const std::string task = variable("SLURM_PROCID");
  return (!task.empty() && task != "0") || variable("HARMONY_ROLE") == "ps";
}

// Two clusters may have a job of the same number on one node; they have not the same slurm.conf.
std::string meeting_name(std::uint32_t job) {
  std::string conf = slurm_conf_here();
  for (char &c : conf)
    if (c == '/' || !is_printable(c)) c = '-';
  return fmt::format("{}{}", job, conf.substr(conf.size() - std::min<std::size_t>(conf.size(), 160)));
}

int tell(const ProgressCommand &command, const ReportResult &result) {
  if (!result.not_merged.empty() && result.what == Reported::left_out)
    complain(command, 0,
             fmt::format("left out: the job's last report is younger than {} s, and claims cannot be merged here: {}",
                         interval_s, one_line(result.not_merged)));
  if (result.what == Reported::failed)
    return complain(command, not_reported, one_line(result.problem, 300) + "; nothing was reported");
  return 0;
}

} // namespace

CLI::App *add_progress(CLI::App &app, ProgressCommand &command) {
  CLI::App *progress = app.add_subcommand("progress", "Tell from inside a job how far its training has come");
  progress->add_option("--epoch", command.epoch, "Epochs done so far, such as 3 or 3.25")->type_name("E")->required();
  progress->add_option("--of", command.of, "Epochs that it will train")->type_name("N");
  progress->add_option("--samples-per-s", command.samples_per_s, "Samples per second now, of the whole gang")
      ->type_name("S");
  progress->add_option("--loss", command.loss, "The loss now")->type_name("L");
  progress->add_option("--job", command.job, "One's own job, by its id; by default the one this runs in")
      ->type_name("ID");
  progress->add_flag("--any-task", command.any_task, "Report from any task; otherwise only task 0 does, and no PS");
  progress->add_flag("--wait", command.wait, "Return when it was sent, up to 10 seconds later; for the last report");
  progress->add_flag("--quiet", command.quiet, "Say nothing if slurmctld does not answer or refuses");
  progress->footer("Exit code: 0 reported, kept to be merged with what comes within 10 seconds, or not this task's to\n"
                   "report; 1 slurmctld does not answer or refuses (scripts may ignore it: || true); 2 wrong usage.");
  return progress;
}

int run_progress(const ProgressCommand &command) {
  Claim claim;
  if (const std::string problem = read_claim(command, claim); !problem.empty())
    return complain(command, wrong_usage, problem);
  const std::string job = command.job.empty() ? own_job() : command.job;
  if (job.empty())
    return complain(command, wrong_usage,
                    "not inside a job (SLURM_JOB_ID is not set); call it in the job's script, or say --job ID");
  const std::optional<JobId> id = read_job_id(job);
  if (!id || id->array_task || id->het_component)
    return complain(command, wrong_usage,
                    fmt::format("\"{}\" is not the id of a job; allowed is a number such as 17", printable(job)));
  if (command.job.empty() && !command.any_task && is_for_others()) return 0;
  std::signal(SIGCHLD, SIG_DFL); // a caller that ignores it would leave that to us
  MergeOptions options;
  options.bases = merge_bases();
  options.interval_ms = interval_s * 1000;
  options.wait = command.wait;
  const SendClaim send = [&](const Claim &merged) {
    return send_claim(id->job, merged, interval_s, timeout_s, !command.quiet);
  };
  return tell(command, report_claim(meeting_name(id->job), claim, send, options));
}

} // namespace harmony
