// What each message of slurmctld does to a played node.
#include <csignal>

#include "tests/cluster/played/messages.h"
#include "tests/cluster/played/slurm.h"

namespace played {
namespace {

Answer return_code(int rc) {
  Answer answer;
  answer.rc = rc;
  return answer;
}

Answer no_answer() // what slurmctld does not wait for
{
  Answer answer;
  answer.kind = Answer::Kind::None;
  return answer;
}

Letter letter(Letter::Kind kind, size_t node, uint32_t job_id = 0) {
  Letter text;
  text.kind = kind;
  text.node = node;
  text.job_id = job_id;
  return text;
}

Letter completion_letter(const Completion &completion) {
  Letter text = letter(Letter::Kind::CompleteBatch, completion.node, completion.job_id);
  text.completion = completion;
  return text;
}

bool from_slurm_or_root(const slurm_msg_t &msg) {
  return msg.auth_uid_set && (msg.auth_uid == 0 || msg.auth_uid == slurm_conf.slurm_user_id);
}

// Signals that would not end a script that only sleeps.
bool is_harmless(int signal) {
  return signal == 0 || signal >= SIGRTMIN || signal == SIGCHLD || signal == SIGURG || signal == SIGWINCH;
}

bool is_stop(int signal) { return signal == SIGSTOP || signal == SIGTSTP || signal == SIGTTIN || signal == SIGTTOU; }

} // namespace

Answer Messages::act(const slurm_msg_t &msg, size_t node) {
  if (msg.msg_type == REQUEST_LAUNCH_TASKS) {
    const auto *req = static_cast<const launch_tasks_request_msg_t *>(msg.data);
    error("%s: step %u of job %u refused: played nodes run batch scripts only, no srun steps",
          nodes_[node].name.c_str(), req->step_id.step_id, req->step_id.job_id);
    return return_code(ESLURM_NOT_SUPPORTED);
  }
  if (!from_slurm_or_root(msg)) {
    error("%s: %s from uid %u refused: neither root nor SlurmUser", nodes_[node].name.c_str(),
          rpc_num2string(msg.msg_type), msg.auth_uid);
    return return_code(ESLURM_USER_ID_MISSING);
  }
  debug2("%s: %s", nodes_[node].name.c_str(), rpc_num2string(msg.msg_type));
  return act_on_node(msg, node);
}

Answer Messages::act_on_node(const slurm_msg_t &msg, size_t node) {
  Answer answer;
  switch (msg.msg_type) {
  case REQUEST_PING: answer.kind = Answer::Kind::Ping; return answer;
  case REQUEST_NODE_REGISTRATION_STATUS:
    answer.kind = Answer::Kind::Ping;
    answer.letters.push_back(letter(Letter::Kind::Register, node));
    return answer;
  case REQUEST_ACCT_GATHER_UPDATE: answer.kind = Answer::Kind::Energy; return answer;
  case REQUEST_HEALTH_CHECK: return answer;
  case REQUEST_RECONFIGURE:
  case REQUEST_RECONFIGURE_WITH_CONFIG: return no_answer(); // as a slurmd: NodeName lines take effect with a restart
  case REQUEST_REBOOT_NODES: return reboot(node);
  case REQUEST_SHUTDOWN: return shut_down(node);
  default: return act_on_job(msg, node);
  }
}

Answer Messages::act_on_job(const slurm_msg_t &msg, size_t node) {
  switch (msg.msg_type) {
  case REQUEST_BATCH_JOB_LAUNCH: return launch_batch(msg, node);
  case REQUEST_LAUNCH_PROLOG: return launch_prolog(msg, node);
  case REQUEST_TERMINATE_JOB:
  case REQUEST_KILL_TIMELIMIT:
  case REQUEST_KILL_PREEMPTED: return terminate(msg, node);
  case REQUEST_ABORT_JOB: return abort(msg, node);
  case REQUEST_SIGNAL_TASKS: return signal(msg, node);
  case REQUEST_SUSPEND_INT: return suspend(msg, node);
  case REQUEST_TERMINATE_TASKS: // there are no steps
  case REQUEST_JOB_NOTIFY:      // nor anybody to read it
    return return_code(SLURM_SUCCESS);
  default:
    error("%s: message %s (%u) is not played; answered with ESLURM_NOT_SUPPORTED", nodes_[node].name.c_str(),
          rpc_num2string(msg.msg_type), msg.msg_type);
    return return_code(ESLURM_NOT_SUPPORTED);
  }
}

Answer Messages::launch_batch(const slurm_msg_t &msg, size_t node) {
  const auto *req = static_cast<const batch_job_launch_msg_t *>(msg.data);
  const Script script = read_script(req->script ? req->script : "");
  if (!jobs_.launch(req->job_id, req->uid, node, script)) {
    error("%s: job %u is already running here; second launch refused", nodes_[node].name.c_str(), req->job_id);
    return return_code(ESLURM_DUPLICATE_JOB_ID);
  }
  debug2("%s: job %u launched", nodes_[node].name.c_str(), req->job_id);
  Answer answer;
  answer.start_job = req->job_id;
  return answer;
}

Answer Messages::launch_prolog(const slurm_msg_t &msg, size_t node) {
  const auto *req = static_cast<const prolog_launch_msg_t *>(msg.data);
  Answer answer;
  if (!(slurm_conf.prolog_flags & PROLOG_FLAG_NOHOLD))
    answer.letters.push_back(letter(Letter::Kind::Prolog, node, req->job_id));
  return answer;
}

Answer Messages::terminate(const slurm_msg_t &msg, size_t node) {
  const auto *req = static_cast<const kill_job_msg_t *>(msg.data);
  Answer answer;
  if (msg.msg_type != REQUEST_TERMINATE_JOB && req->step_id.step_id != NO_VAL)
    return answer; // the time limit of a step, and there are none
  const uint32_t job_id = req->step_id.job_id;
  Completion completion;
  switch (jobs_.terminate(job_id, node, completion)) {
  case Terminated::NotHere: answer.letters.push_back(letter(Letter::Kind::Epilog, node, job_id)); break;
  case Terminated::EndsNow: answer.letters.push_back(completion_letter(completion)); break;
  case Terminated::AlreadyEnding: break;
  }
  return answer;
}

Answer Messages::abort(const slurm_msg_t &msg, size_t node) {
  const auto *req = static_cast<const kill_job_msg_t *>(msg.data);
  jobs_.forget(req->step_id.job_id, node);
  return return_code(SLURM_SUCCESS);
}

Answer Messages::signal(const slurm_msg_t &msg, size_t node) {
  const auto *req = static_cast<const signal_tasks_msg_t *>(msg.data);
  const uint32_t job_id = req->step_id.job_id;
  const bool to_script = (req->flags & (KILL_FULL_JOB | KILL_JOB_BATCH)) || req->step_id.step_id == SLURM_BATCH_SCRIPT;
  Answer answer;
  if (!to_script) return answer; // for steps, and there are none
  if (req->signal == SIGCONT)
    jobs_.resume(job_id, node);
  else if (is_stop(req->signal))
    jobs_.pause(job_id, node);
  else if (!is_harmless(req->signal))
    if (const auto completion = jobs_.end(job_id, node, req->signal))
      answer.letters.push_back(completion_letter(*completion));
  return answer;
}

Answer Messages::suspend(const slurm_msg_t &msg, size_t node) {
  const auto *req = static_cast<const suspend_int_msg_t *>(msg.data);
  if (req->op == SUSPEND_JOB)
    jobs_.pause(req->job_id, node);
  else if (req->op == RESUME_JOB)
    jobs_.resume(req->job_id, node);
  else
    return return_code(ESLURM_NOT_SUPPORTED);
  return return_code(SLURM_SUCCESS);
}

Answer Messages::reboot(size_t node) {
  info("%s: reboots: its jobs are gone, it registers again in 2 s", nodes_[node].name.c_str());
  for (uint32_t job_id : jobs_.on_node(node)) jobs_.forget(job_id, node);
  Answer answer = no_answer();
  answer.letters.push_back(letter(Letter::Kind::Boot, node));
  answer.letters_after = std::chrono::seconds(2);
  return answer;
}

Answer Messages::shut_down(size_t node) {
  Answer answer = no_answer();
  // One process plays them all: it stays long enough for the other nodes to be told.
  if (!shutting_down_.exchange(true)) {
    info("%s: told to shut down; all played nodes end in 2 s", nodes_[node].name.c_str());
    answer.letters.push_back(letter(Letter::Kind::EndProgram, node));
    answer.letters_after = std::chrono::seconds(2);
  }
  return answer;
}

} // namespace played
