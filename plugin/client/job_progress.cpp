#include "plugin/slurm_version.h"

#include "plugin/client/job_progress.h"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <ctime>
#include <memory>
#include <optional>
#include <unistd.h>

namespace harmony {
namespace {

// What slurmctld takes of a comment at submission (22.05: 1024). A longer one could not be submitted again.
constexpr std::size_t longest_field = 1024;

constexpr std::uint16_t brief_s = 4; // for one question to slurmctld

bool is_passing(int code) {
  switch (code) {
  case SLURM_COMMUNICATIONS_CONNECTION_ERROR:
  case SLURM_COMMUNICATIONS_SEND_ERROR:
  case SLURM_COMMUNICATIONS_RECEIVE_ERROR:
  case SLURM_COMMUNICATIONS_SHUTDOWN_ERROR:
  case SLURM_PROTOCOL_SOCKET_IMPL_TIMEOUT:
  case SLURMCTLD_COMMUNICATIONS_CONNECTION_ERROR:
  case SLURMCTLD_COMMUNICATIONS_SEND_ERROR:
  case SLURMCTLD_COMMUNICATIONS_RECEIVE_ERROR:
  case SLURMCTLD_COMMUNICATIONS_SHUTDOWN_ERROR:
  case ESLURM_IN_STANDBY_MODE:
  case ESLURM_DISABLED: return true;
  default: return false;
  }
}

ClaimSent failed(std::uint32_t job, int code) {
  const bool passing = is_passing(code);
  return {fmt::format("job {}: {}{}", job, passing ? "slurmctld does not answer: " : "", slurm_strerror(code)), passing,
          0};
}

ClaimSent refused(std::uint32_t job, const std::string &why) { return {fmt::format("job {}: {}", job, why), false, 0}; }

struct FreeMessage {
  void operator()(job_info_msg_t *message) const {
    // See job_comment.cpp.
    for (std::uint32_t i = 0; i < message->record_count; ++i) xfree(message->job_array[i].system_comment);
    slurm_free_job_info_msg(message);
  }
};

// The owner's field of the job's own record; of a job array slurmctld tells of all its tasks.
struct OwnField {
  ClaimSent problem;
  std::string text;
};

OwnField read_field(std::uint32_t job) {
  job_info_msg_t *answer = nullptr;
  if (slurm_load_job(&answer, job, SHOW_ALL) != SLURM_SUCCESS) return {failed(job, errno), {}};
  const std::unique_ptr<job_info_msg_t, FreeMessage> message(answer);
  for (std::uint32_t i = 0; i < message->record_count; ++i) {
    const slurm_job_info_t &info = message->job_array[i];
    if (info.job_id != job) continue;
    // slurmctld lets operators write; a claim is the owner's all the same.
    if (info.user_id != geteuid()) return {refused(job, "only its owner can report its progress"), {}};
    return {{}, info.HARMONY_CLAIM_FIELD ? info.HARMONY_CLAIM_FIELD : ""};
  }
  return {failed(job, ESLURM_INVALID_JOB_ID), {}};
}

// A claim from the future is of a clock that was set back: it holds nobody up for longer than one that is new.
std::int64_t young_ms(const std::optional<Claim> &other, int interval_s) {
  const std::int64_t now = std::time(nullptr);
  if (!other || other->at > now + interval_s || now - other->at >= interval_s) return 0;
  return std::min<std::int64_t>(interval_s, interval_s - (now - other->at)) * 1000;
}

bool is_complaining = false;

void give_up(int) {
  constexpr char line[] = "harmony progress: slurmctld does not answer; nothing was reported\n";
  if (is_complaining && write(2, line, sizeof line - 1) < 0) _exit(1);
  _exit(1);
}

// libslurm tries for as long as slurm.conf's MessageTimeout, which is long for a training that waits, and longer while
// a backup takes over. So it is told to be brief, and ended if it is not.
class Deadline {
public:
  Deadline(int seconds, bool complain) {
    is_complaining = complain;
    std::signal(SIGALRM, give_up);
    sigset_t alarms;
    sigemptyset(&alarms);
    sigaddset(&alarms, SIGALRM);
    sigprocmask(SIG_UNBLOCK, &alarms, nullptr); // what a caller blocks is handed down
    alarm(static_cast<unsigned>(seconds));
  }
  ~Deadline() { alarm(0); }
};

} // namespace

ClaimSent send_claim(std::uint32_t job, const Claim &claim, int interval_s, int timeout_s, bool complain) {
  const Deadline deadline(timeout_s, complain);
  slurm_init(nullptr);
  if (&slurm_conf) slurm_conf.msg_timeout = std::min<std::uint16_t>(slurm_conf.msg_timeout, brief_s);
  const OwnField field = read_field(job);
  if (!field.problem.problem.empty()) return field.problem;
  const std::int64_t young = young_ms(read_claim_field(field.text).claim, interval_s);
  if (young > 0) return {{}, false, young};
  std::string text = with_claim(field.text, claim);
  if (text.size() > longest_field)
    return refused(job,
                   fmt::format("its {} has {} bytes, and with {} more for the progress would be longer than the {} "
                               "that Slurm takes",
                               claim_field_name, read_claim_field(field.text).owner.size(),
                               claim_mark(claim).size() + 1, longest_field));
  job_desc_msg_t update;
  slurm_init_job_desc_msg(&update);
  update.job_id = job;
  update.HARMONY_CLAIM_FIELD = text.data();
  if (slurm_update_job(&update) != SLURM_SUCCESS) return failed(job, errno);
  return {};
}

} // namespace harmony
