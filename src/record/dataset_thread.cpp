#include "src/record/dataset_thread.h"

#include "src/record/dataset_upkeep.h"
#include "src/values/clock.h"
#include "src/values/quiet_thread.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <exception>
#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>
#include <utility>

namespace harmony {
namespace {

constexpr std::int64_t first_pause_ms = 500, longest_pause_ms = 8000, sync_every_ms = 5000;
constexpr int lowest_priority = 19;

void keep(const std::shared_ptr<DatasetShared> &shared) {
  pthread_setname_np(pthread_self(), "harmony-keep");
  setpriority(PRIO_PROCESS, static_cast<id_t>(gettid()), lowest_priority);
  std::unique_lock lock(shared->mutex);
  while (std::exchange(shared->keep_again, false) && !shared->stop_upkeep) {
    const std::string path = shared->options.directory;
    const std::uint64_t most = shared->options.most_bytes;
    const std::uint64_t room = std::min(shared->options.file_bytes, most / 4); // for the file being written
    lock.unlock();
    UpkeepResult result;
    try {
      const OpenDirectory directory = path.empty() ? OpenDirectory() : open_dataset_directory(path);
      if (directory.fd.is_open() && directory.problem.empty())
        result = keep_dataset(directory, most - room, shared->stop_upkeep);
    } catch (const std::exception &error) {
      result.problem = fmt::format("{} cannot be kept in order: {}", path, error.what());
    }
    lock.lock();
    shared->ended_files = result.files;
    shared->ended_bytes = result.bytes;
    shared->keep_problem = std::move(result.problem);
    shared->changed.notify_all();
  }
  shared->keeping = false;
  shared->settled.notify_all();
}

} // namespace

GapRecord DatasetShared::gap() const {
  GapRecord gap;
  gap.cluster = options.cluster;
  gap.at_s = static_cast<double>(std::time(nullptr));
  gap.why = figures.problem.empty() ? queue_is_full : figures.problem;
  return gap;
}

void DatasetThread::run() {
  pthread_setname_np(pthread_self(), "harmony-dataset");
  while (safe_step()) {
  }
  files_.end();
  const std::lock_guard lock(shared_->mutex);
  shared_->running = false;
  shared_->settled.notify_all();
}

// Nothing may be thrown out of a thread of slurmctld.
bool DatasetThread::safe_step() {
  try {
    return step();
  } catch (const std::exception &) { // no memory: this record is lost, the next may be smaller
  }
  retry_at_ = now_ms() + first_pause_ms;
  try {
    lose_line();
  } catch (const std::exception &) {
  }
  return true;
}

// One thing after the other: the disk is at work only while nobody else is kept out.
bool DatasetThread::step() {
  std::optional<Record> record;
  std::optional<DatasetShared::Change> change;
  std::string keep_problem;
  {
    std::unique_lock lock(shared_->mutex);
    if (!wait(lock)) {
      lock.unlock();
      return files_.sync(), false;
    }
    keep_problem = shared_->keep_problem;
    if (has_change()) {
      change = std::move(shared_->changes.front());
      shared_->changes.pop_front();
    } else if (line_.empty() && !options_.directory.empty()) {
      record = shared_->queue.take();
    }
  }
  if (keep_problem != told_keep_problem_) {
    if (!keep_problem.empty()) say(true, fmt::format("dataset: {}; files stay as they are", keep_problem));
    told_keep_problem_ = keep_problem;
  }
  if (change) apply(*change);
  if (record) make_line(*record);
  if (!line_.empty() && now_ms() >= retry_at_) write_line();
  if (sync_at_ != 0 && now_ms() >= sync_at_) sync();
  return true;
}

// Whether the next change of options is due. Under the mutex.
bool DatasetThread::has_change() const {
  return !shared_->changes.empty() && (shared_->queue.settled_until(shared_->changes.front().after) ||
                                       !problem_.empty() || options_.directory.empty());
}

// Until there is something to do; false if that is to end.
bool DatasetThread::wait(std::unique_lock<std::mutex> &lock) {
  const DatasetShared &shared = *shared_;
  const auto has_record = [&] { return line_.empty() && !options_.directory.empty() && !shared.queue.empty(); };
  const auto due = [&] {
    return shared.stop || has_change() || has_record() || shared.keep_problem != told_keep_problem_;
  };
  const std::int64_t far = now_ms() + 3600 * 1000;
  const std::int64_t until = std::min(line_.empty() ? far : retry_at_, sync_at_ == 0 ? far : sync_at_);
  shared_->changed.wait_for(lock, std::chrono::milliseconds(std::max<std::int64_t>(0, until - now_ms())), due);
  return !shared.stop || (problem_.empty() && (!line_.empty() || has_change() || has_record()));
}

void DatasetThread::apply(const DatasetShared::Change &change) {
  const bool elsewhere = change.options.directory != options_.directory;
  options_ = change.options;
  files_.set(options_.directory, file_bytes());
  if (elsewhere) {
    retry_at_ = 0;
    if (!problem_.empty()) right();
  }
  if (options_.directory.empty()) {
    lose_line();
    const std::lock_guard lock(shared_->mutex);
    shared_->queue.drop_until(change.after, shared_->gap());
    shared_->figures.problem.clear();
    shared_->settled.notify_all();
  }
  post();
  ask_upkeep();
}

void DatasetThread::make_line(const Record &record) {
  line_ = "\n"; // should anything throw here, there is one in hand to be counted as lost
  const auto *const gap = std::get_if<GapRecord>(&record);
  gap_ = gap ? gap->lost : 0;
  gap_why_ = gap ? gap->why : std::string();
  const auto *const start = std::get_if<StartRecord>(&record);
  line_ = (start && start->user_id ? to_line(with_user(*start)) : to_line(record)) + "\n";
}

StartRecord DatasetThread::with_user(StartRecord start) {
  open_dataset_directory(options_.directory); // its secret goes there, and this may be its first record
  start.user = users_.of(*start.user_id, options_.users, options_.directory);
  return start;
}

void DatasetThread::write_line() {
  const std::string problem = files_.append(line_, std::time(nullptr));
  if (!problem.empty()) return wrong(problem);
  if (sync_at_ == 0) sync_at_ = now_ms() + sync_every_ms;
  {
    const std::lock_guard lock(shared_->mutex);
    ++shared_->figures.written;
    shared_->figures.bytes += line_.size();
    shared_->queue.settled();
    shared_->settled.notify_all();
  }
  line_.clear();
  if (!problem_.empty()) right();
  if (gap_ > 0) say(true, fmt::format("dataset: {} records were lost: {}", std::exchange(gap_, 0), gap_why_));
  post();
  if (generation_ != files_.generation()) ask_upkeep();
  generation_ = files_.generation();
}

void DatasetThread::lose_line() {
  if (line_.empty()) return;
  line_.clear();
  const std::lock_guard lock(shared_->mutex);
  shared_->queue.lose_taken(shared_->gap());
  shared_->settled.notify_all();
}

void DatasetThread::sync() {
  sync_at_ = 0;
  const std::string problem = files_.sync();
  if (!problem.empty()) say(true, fmt::format("dataset: {}; going on in another file", problem));
  post();
}

void DatasetThread::wrong(const std::string &problem) {
  pause_ms_ = std::clamp(pause_ms_ * 2, first_pause_ms, longest_pause_ms);
  retry_at_ = now_ms() + pause_ms_;
  if (problem_.empty())
    say(true, fmt::format("dataset: {}; records wait in memory, and are lost when {} are waiting", problem,
                          options_.queue_lines));
  problem_ = problem;
  post();
}

void DatasetThread::right() {
  problem_.clear();
  pause_ms_ = 0;
  say(false, options_.directory.empty() ? std::string("dataset: no longer written")
                                        : fmt::format("dataset: {} is written again", options_.directory));
}

void DatasetThread::post() {
  const std::lock_guard lock(shared_->mutex);
  DatasetFigures &figures = shared_->figures;
  if (figures.generation != files_.generation()) { // until upkeep has counted again
    shared_->ended_files += figures.file.empty() ? 0 : 1;
    shared_->ended_bytes += shared_->file_size;
  }
  figures.generation = files_.generation();
  figures.file = files_.file();
  figures.problem = problem_;
  shared_->file_size = files_.size();
}

void DatasetThread::ask_upkeep() {
  const std::lock_guard lock(shared_->mutex);
  shared_->keep_again = true;
  if (shared_->keeping || shared_->stop) return;
  try {
    quiet_thread([shared = shared_] { keep(shared); }).detach();
    shared_->keeping = true;
  } catch (const std::system_error &) { // asked for again with the next file
  }
}

void DatasetThread::say(bool is_error, const std::string &line) const {
  DatasetWriter::Say to = nullptr;
  {
    const std::lock_guard lock(shared_->mutex);
    to = shared_->say;
  }
  if (to) to(is_error, line);
}

// Four files at least, so that taking the oldest away leaves something.
std::uint64_t DatasetThread::file_bytes() const { return std::min(options_.file_bytes, options_.most_bytes / 4); }

} // namespace harmony
