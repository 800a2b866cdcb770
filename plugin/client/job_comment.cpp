#include "plugin/slurm_version.h"

#include "plugin/client/job_comment.h"
#include "src/values/job_id.h"

#include <memory>

namespace harmony {
namespace {

bool is_array_task(const slurm_job_info_t &job, std::uint32_t task) {
  if (job.array_task_id == task) return true;
  auto *waiting = static_cast<bitstr_t *>(job.array_bitmap); // tasks without a record of their own
  return waiting && task < static_cast<std::uint64_t>(bit_size(waiting)) && bit_test(waiting, task);
}

bool is_meant(const slurm_job_info_t &job, const JobId &id) {
  if (id.array_task) return job.array_job_id == id.job && is_array_task(job, *id.array_task);
  if (id.het_component) return job.het_job_id == id.job && job.het_job_offset == *id.het_component;
  return true;
}

bool has_our_text(const slurm_job_info_t &job) {
  return job.system_comment && std::string(job.system_comment).find(comment_mark) != std::string::npos;
}

struct FreeMessage {
  void operator()(job_info_msg_t *message) const {
    // slurm_free_job_info_msg() of 22.05 forgets these; xfree leaves null, so that it does no harm where it does not.
    for (std::uint32_t i = 0; i < message->record_count; ++i) xfree(message->job_array[i].system_comment);
    slurm_free_job_info_msg(message);
  }
};

} // namespace

JobComment ask_job_comment(const std::string &job_id) {
  JobComment result;
  const std::optional<JobId> id = read_job_id(job_id);
  if (!id) {
    result.problem = "not the id of a job";
    return result;
  }
  slurm_init(nullptr);
  job_info_msg_t *answer = nullptr;
  if (slurm_load_job(&answer, id->job, SHOW_ALL) != SLURM_SUCCESS) {
    result.problem = slurm_strerror(errno);
    return result;
  }
  const std::unique_ptr<job_info_msg_t, FreeMessage> message(answer);
  const slurm_job_info_t *best = nullptr;
  for (std::uint32_t i = 0; i < message->record_count; ++i) {
    const slurm_job_info_t &job = message->job_array[i];
    if (is_meant(job, *id) && (!best || (!has_our_text(*best) && has_our_text(job)))) best = &job;
  }
  result.found = best;
  if (!best)
    result.problem = slurm_strerror(ESLURM_INVALID_JOB_ID);
  else if (best->system_comment)
    result.system_comment = best->system_comment;
  return result;
}

} // namespace harmony
