#include "plugin/slurm_version.h"

#include "plugin/engine/job_events.h"

#include "plugin/engine/slurm_values.h"

#include <algorithm>
#include <sys/wait.h>

namespace harmony {
namespace {

int records_of(const job_record_t &job) {
  if (!job.het_job_id) return 1;
  const job_record_t *leader = find_job_record(job.het_job_id);
  return leader && leader->het_job_list ? std::max(1, list_count(leader->het_job_list)) : 1;
}

// After a node failed, Slurm puts the job back into the queue only when its resources are free.
bool fails_and_is_requeued(const job_record_t &job) {
  return (job.job_state & JOB_STATE_BASE) == JOB_NODE_FAIL && job.batch_flag && job.details && job.details->requeue;
}

bool will_run_again(const job_record_t &job) {
  const job_record_t *const record = &job; // for Slurm's macros
  return IS_JOB_PENDING(record) || fails_and_is_requeued(job) ||
         job.job_state & (JOB_REQUEUE | JOB_REQUEUE_HOLD | JOB_SPECIAL_EXIT);
}

std::string state_word(const job_record_t &job) {
  // A job that was suspended for another keeps preempt_time, and may complete all the same.
  if ((job.job_state & JOB_STATE_BASE) == JOB_PREEMPTED || (job.preempt_time && will_run_again(job)))
    return "PREEMPTED";
  if (will_run_again(job) && !fails_and_is_requeued(job)) return "REQUEUED";
  return text(job_state_string(job.job_state & JOB_STATE_BASE));
}

int exit_code_of(std::uint32_t status) {
  if (status == NO_VAL) return 0;
  const int code = static_cast<int>(status);
  return WIFSIGNALED(code) ? 128 + WTERMSIG(code) : WEXITSTATUS(code);
}

} // namespace

JobPlaced placed_job(const job_record_t &job, const Settings &settings) {
  JobPlaced placed;
  placed.description = description_of(job);
  placed.held = copy_running(job, placed.description, is_managed(job, settings.manage));
  placed.gang = gang_id(job);
  placed.record = job.job_id;
  placed.records = records_of(job);
  placed.run = job.restart_cnt;
  if (job.array_task_id != NO_VAL) {
    placed.array_job = job.array_job_id;
    placed.array_task = job.array_task_id;
  }
  placed.user = job.user_id;
  placed.time_limit_min = job.time_limit == NO_VAL || job.time_limit == INFINITE ? 0 : job.time_limit;
  placed.started = job.start_time;
  placed.claim = claim_text(job);
  if (!job.details) return placed;
  placed.submitted = job.details->submit_time;
  placed.cpus_per_task = job.details->cpus_per_task == NO_VAL16 ? 0 : job.details->cpus_per_task;
  return placed;
}

JobFreed freed_job(const job_record_t &job) {
  JobFreed freed;
  freed.gang = gang_id(job);
  freed.record = job.job_id;
  freed.state = state_word(job);
  freed.requeued = will_run_again(job);
  freed.exit_code = exit_code_of(job.exit_code);
  freed.started = job.start_time;
  freed.resized = job.resize_time != 0;
  freed.suspended_s = static_cast<double>(std::max<std::time_t>(0, job.tot_sus_time));
  freed.claim = claim_text(job);
  return freed;
}

} // namespace harmony
