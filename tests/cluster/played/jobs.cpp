#include "tests/cluster/played/jobs.h"

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <sstream>

#include <sys/eventfd.h>

namespace played {
namespace {

// True for "WORD NUMBER ..." at the very beginning of the line.
bool number_after(const std::string &line, const std::string &word, double &number) {
  if (line.compare(0, word.size(), word) != 0 || line.size() <= word.size()) return false;
  if (line[word.size()] != ' ' && line[word.size()] != '\t') return false;
  const char *begin = line.c_str() + word.size();
  char *end = nullptr;
  const double value = std::strtod(begin, &end);
  if (end == begin || !(value >= 0 && value < 1e9)) return false;
  number = value;
  return true;
}

} // namespace

Script read_script(const std::string &text) {
  Script script;
  bool sleep_seen = false, exit_seen = false;
  std::istringstream lines(text);
  std::string line;
  while (std::getline(lines, line)) {
    double number = 0;
    if (!sleep_seen && number_after(line, "sleep", number)) {
      sleep_seen = true;
      script.length = std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(number));
    } else if (!exit_seen && number_after(line, "exit", number)) {
      exit_seen = true;
      script.exit_code = static_cast<int>(number) & 0xff;
    }
  }
  return script;
}

bool JobTable::launch(uint32_t job_id, uint32_t uid, size_t node, const Script &script) {
  std::lock_guard<std::mutex> lock(mutex_);
  const auto [at, inserted] = jobs_.try_emplace(job_id);
  if (!inserted) return false;
  Job &job = at->second;
  job.run = ++last_run_;
  job.uid = uid;
  job.node = node;
  job.status = static_cast<uint32_t>(script.exit_code) << 8;
  job.left = script.length;
  return true;
}

void JobTable::start(uint32_t job_id) {
  std::lock_guard<std::mutex> lock(mutex_);
  const auto at = jobs_.find(job_id);
  if (at != jobs_.end() && at->second.phase == Phase::Starting) run_timer(job_id, at->second);
}

void JobTable::forget(uint32_t job_id, size_t node) {
  std::lock_guard<std::mutex> lock(mutex_);
  const Job *job = find(job_id, node);
  if (!job) return;
  stop_timer(job_id, *job);
  jobs_.erase(job_id);
}

void JobTable::pause(uint32_t job_id, size_t node) {
  std::lock_guard<std::mutex> lock(mutex_);
  Job *job = find(job_id, node);
  if (!job || job->phase != Phase::Running) return;
  stop_timer(job_id, *job);
  job->left = std::max(Clock::duration::zero(), job->due - Clock::now());
  job->phase = Phase::Paused;
}

void JobTable::resume(uint32_t job_id, size_t node) {
  std::lock_guard<std::mutex> lock(mutex_);
  Job *job = find(job_id, node);
  if (job && job->phase == Phase::Paused) run_timer(job_id, *job);
}

std::optional<Completion> JobTable::end(uint32_t job_id, size_t node, uint32_t status) {
  std::lock_guard<std::mutex> lock(mutex_);
  Job *job = find(job_id, node);
  if (!job || job->phase == Phase::Ending) return std::nullopt;
  job->status = status;
  return begin_ending(job_id, *job);
}

Terminated JobTable::terminate(uint32_t job_id, size_t node, Completion &completion) {
  std::lock_guard<std::mutex> lock(mutex_);
  Job *job = find(job_id, node);
  if (!job) return Terminated::NotHere;
  job->epilog_wanted = true;
  if (job->phase == Phase::Ending) return Terminated::AlreadyEnding;
  job->status = SIGTERM;
  completion = begin_ending(job_id, *job);
  return Terminated::EndsNow;
}

std::vector<Completion> JobTable::take_due(Clock::time_point now) {
  std::lock_guard<std::mutex> lock(mutex_);
  std::vector<Completion> due;
  while (!timers_.empty() && timers_.begin()->first <= now) {
    const uint32_t job_id = timers_.begin()->second;
    due.push_back(begin_ending(job_id, jobs_.at(job_id)));
  }
  return due;
}

std::optional<Clock::time_point> JobTable::next_due() const {
  std::lock_guard<std::mutex> lock(mutex_);
  if (timers_.empty()) return std::nullopt;
  return timers_.begin()->first;
}

bool JobTable::waits_for_completion(const Completion &completion) const {
  std::lock_guard<std::mutex> lock(mutex_);
  const auto at = jobs_.find(completion.job_id);
  return at != jobs_.end() && at->second.run == completion.run;
}

bool JobTable::completed(const Completion &completion) {
  std::lock_guard<std::mutex> lock(mutex_);
  const auto at = jobs_.find(completion.job_id);
  if (at == jobs_.end() || at->second.run != completion.run) return false;
  const bool epilog_wanted = at->second.epilog_wanted;
  jobs_.erase(at);
  return epilog_wanted;
}

std::vector<uint32_t> JobTable::on_node(size_t node) const {
  std::lock_guard<std::mutex> lock(mutex_);
  std::vector<uint32_t> ids;
  for (const auto &[job_id, job] : jobs_)
    if (job.node == node) ids.push_back(job_id);
  return ids;
}

JobTable::Job *JobTable::find(uint32_t job_id, size_t node) {
  const auto at = jobs_.find(job_id);
  return at != jobs_.end() && at->second.node == node ? &at->second : nullptr;
}

Completion JobTable::begin_ending(uint32_t job_id, Job &job) {
  stop_timer(job_id, job);
  job.phase = Phase::Ending;
  return {job_id, job.run, job.uid, job.node, job.status};
}

void JobTable::run_timer(uint32_t job_id, Job &job) {
  job.phase = Phase::Running;
  job.due = Clock::now() + job.left;
  timers_.emplace(job.due, job_id);
  eventfd_write(wake_fd_, 1);
}

void JobTable::stop_timer(uint32_t job_id, const Job &job) {
  if (job.phase == Phase::Running) timers_.erase({job.due, job_id});
}

} // namespace played
