#include "plugin/slurm_version.h"

#include "plugin/engine/raw_jobs.h"

#include "plugin/engine/slurm_values.h"

#include <algorithm>
#include <numeric>

extern "C" {
#include "src/common/job_resources.h"
}

namespace harmony {
namespace {

void copy_gpus(const job_record_t &job, RunningCopy &copy) {
  for_each<gres_state_t>(job.gres_list_alloc, [&copy](gres_state_t &gres) {
    if (!is_on_gpus(gres)) return;
    const auto &state = *static_cast<const gres_job_state_t *>(gres.gres_data);
    for (std::uint32_t i = 0; i < state.node_cnt && i < copy.gpus.size(); ++i) {
      if (!state.gres_bit_alloc || !state.gres_bit_alloc[i]) {
        if (state.gres_cnt_node_alloc) copy.unnumbered_gpus += static_cast<int>(state.gres_cnt_node_alloc[i]);
        continue;
      }
      copy.gpus[i].join(bits_of(state.gres_bit_alloc[i]));
    }
  });
}

PendingCopy copy_pending(const job_record_t &job, const JobDescription &description, EligibleNodes &eligible) {
  PendingCopy copy;
  copy.gang.job = gang_id(job);
  copy.gang.user = job.user_id;
  copy.gang.type = description.type;
  copy.gang.epochs = description.epochs;
  copy.gang.model_kb = description.model_kb;
  copy.gang.priority = job.priority;
  copy.gang.submitted = job.details->submit_time;
  copy.gang.eligible_since = std::max(job.details->begin_time, job.details->submit_time);
  copy.gang.time_limit_min = minutes_allowed(job);
  copy.gang.copies = copies_of(job);
  copy.het_job = job.het_job_id;
  copy.het_offset = job.het_job_offset;
  copy.het_size = job.het_job_list ? list_count(job.het_job_list) : 0;
  copy.gang.in_a_hurry = job.deadline != 0 || eligible.reservation_comes();
  copy.reserved = job.resv_id != 0;
  copy.tier = job.part_ptr ? job.part_ptr->priority_tier : 0;
  ComponentReading reading = component_of(job, description);
  copy.left = std::move(reading.left);
  if (copy.left.empty()) {
    copy.nodes = eligible.of(job);
    copy.left = copy.nodes.left;
  }
  copy.gang.components.push_back(std::move(reading.component));
  return copy;
}

// Records lie all over slurmctld's memory, and waiting for them is most of what a copy costs; asked for some jobs
// ahead, they are there in time.
void prefetch(const std::vector<job_record_t *> &jobs, std::size_t at) {
  constexpr std::size_t far = 12, near = 6, line = 64;
  if (at + far < jobs.size())
    for (std::size_t offset = 0; offset < sizeof(job_record_t); offset += line)
      __builtin_prefetch(reinterpret_cast<const char *>(jobs[at + far]) + offset);
  if (at + near < jobs.size()) {
    const job_record_t &job = *jobs[at + near];
    for (std::size_t offset = 0; job.details && offset < sizeof(job_details); offset += line)
      __builtin_prefetch(reinterpret_cast<const char *>(job.details) + offset);
    if (job.gres_list_req) __builtin_prefetch(job.gres_list_req);
  }
}

// Tasks a node. slurmctld does not save them: after its restart they follow from the CPUs.
std::vector<int> tasks_of(const job_record_t &job, const job_resources_t &held) {
  if (held.tasks_per_node) return {held.tasks_per_node, held.tasks_per_node + held.nhosts};
  std::vector<int> tasks;
  const int cpus = job.details && job.details->cpus_per_task && job.details->cpus_per_task != NO_VAL16
                       ? job.details->cpus_per_task
                       : 1;
  for (std::uint32_t i = 0; held.cpus && i < held.nhosts; ++i) tasks.push_back(std::max(1, held.cpus[i] / cpus));
  return tasks;
}

// Of a hetjob the component without GPUs is the PS, all of it; the number counts for both.
int ps_of(const job_record_t &job, const JobDescription &description, const RunningCopy &copy) {
  const int ps = static_cast<int>(description.ps);
  if (!job.het_job_id || ps == 0) return ps;
  const bool with_gpus = copy.unnumbered_gpus > 0 ||
                         std::any_of(copy.gpus.begin(), copy.gpus.end(), [](const Bits &gpus) { return gpus.any(); });
  return with_gpus ? 0 : std::accumulate(copy.tasks.begin(), copy.tasks.end(), 0);
}

} // namespace

bool holds_resources(const job_record_t *job) {
  return (IS_JOB_RUNNING(job) || IS_JOB_SUSPENDED(job)) && !IS_JOB_COMPLETING(job) && job->job_resrcs &&
         job->job_resrcs->node_bitmap;
}

std::shared_ptr<const RunningCopy> copy_running(const job_record_t &job, const JobDescription &description,
                                                bool managed) {
  auto copy = std::make_shared<RunningCopy>();
  const job_resources_t &held = *job.job_resrcs;
  copy->running.job = job.job_id;
  copy->running.user = job.user_id;
  copy->running.managed = managed;
  copy->running.type = description.type;
  copy->running.model_kb = description.model_kb;
  copy->running.started = job.start_time;
  copy->running.ends = job.end_time;
  copy->alone = held.whole_node || job.mcs_label || (job.details && job.details->whole_node) ||
                (job.part_ptr && job.part_ptr->flags & PART_FLAG_EXCLUSIVE_USER);
  copy->nodes = bits_of(held.node_bitmap);
  copy->cores = bits_of(held.core_bitmap);
  const std::size_t hosts = held.nhosts;
  copy->gpus.resize(hosts);
  if (held.memory_allocated) copy->memory_mb.assign(held.memory_allocated, held.memory_allocated + hosts);
  copy->tasks = tasks_of(job, held);
  copy_gpus(job, *copy);
  copy->ps = ps_of(job, description, *copy);
  return copy;
}

// A comment of absurd length is not looked through under slurmctld's locks; `harmony progress` does not write into one.
std::string claim_text(const job_record_t &job) {
  constexpr std::size_t longest_comment = 1025, longest_claim = 300; // Slurm takes 1024 bytes
  const char *field = job.HARMONY_CLAIM_FIELD;
  if (!field || !*field) return "";
  const std::size_t length = strnlen(field, longest_comment);
  if (length == longest_comment || field[length - 1] != ']') return "";
  return std::string(field + length - std::min(length, longest_claim), field + length);
}

// Options do not change after submission; another record with the same id (a task of a job array leaves its own behind)
// has other ones at another place.
JobCopies::Known &JobCopies::known(const job_record_t &job, const Settings &settings) {
  Known &known = known_[job.job_id];
  if (known.seen == 0 || known.options != job.spank_job_env || known.gres != job.gres_list_req ||
      known.manage != settings.manage) {
    known = {};
    known.options = job.spank_job_env;
    known.gres = job.gres_list_req;
    known.manage = settings.manage;
    known.managed = is_managed(job, settings.manage);
    known.description = description_of(job);
  }
  known.seen = copies_;
  return known;
}

void JobCopies::copy_job(job_record_t &job, const Settings &settings, std::time_t now, EligibleNodes &eligible) {
  const bool runs = holds_resources(&job);
  if (!runs && !waits_for_resources(job, now)) return;
  Known &before = known(job, settings);
  if (!runs) {
    if (before.managed && copies_of(job) > 0) pending_.push_back(copy_pending(job, before.description, eligible));
    return;
  }
  if (!before.running || before.start != job.start_time || before.resize != job.resize_time) {
    before.running = copy_running(job, before.description, before.managed);
    before.start = job.start_time;
    before.resize = job.resize_time;
  }
  running_.push_back(before.running);
  if (!before.managed) return;
  if (std::string claim = claim_text(job); claim != before.claim) {
    before.claim = claim;
    if (!claim.empty()) claims_.push_back({gang_id(job), std::move(claim)});
  }
}

void JobCopies::copy(const Settings &settings, std::time_t now) {
  ++copies_;
  const std::size_t pending_before = pending_.size();
  running_.clear();
  pending_.clear();
  pending_.reserve(pending_before + 16);
  records_.clear();
  for_each<job_record_t>(job_list, [this](job_record_t &job) { records_.push_back(&job); });
  EligibleNodes eligible(now);
  for (std::size_t i = 0; i < records_.size(); ++i) {
    prefetch(records_, i);
    copy_job(*records_[i], settings, now, eligible);
  }
  forget_the_gone();
}

void JobCopies::forget_the_gone() {
  if (known_.size() <= 2 * (running_.size() + pending_.size()) + 64) return;
  for (auto each = known_.begin(); each != known_.end();)
    each = each->second.seen == copies_ ? std::next(each) : known_.erase(each);
}

} // namespace harmony
