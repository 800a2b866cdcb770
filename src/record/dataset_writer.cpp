#include "src/record/dataset_writer.h"

#include "src/record/dataset_thread.h"
#include "src/values/quiet_thread.h"

#include <fmt/format.h>

#include <chrono>
#include <new>
#include <optional>
#include <system_error>

namespace harmony {

namespace {

constexpr std::chrono::seconds patience(2); // of the destructor

} // namespace

DatasetWriter::DatasetWriter(Say say) : shared_(std::make_shared<DatasetShared>()) { shared_->say = say; }

DatasetWriter::~DatasetWriter() {
  std::unique_lock lock(shared_->mutex);
  shared_->stop = true;
  shared_->stop_upkeep = true;
  shared_->changed.notify_all();
  const auto ended = [this] { return !shared_->running && !shared_->keeping; };
  shared_->settled.wait_for(lock, patience, ended);
  shared_->say = nullptr; // a disk that hangs may let the threads go long after this
}

void DatasetWriter::set_options(const DatasetOptions &options) {
  const std::lock_guard lock(shared_->mutex);
  shared_->options = options;
  shared_->queue.limit(options.queue_lines, options.queue_bytes);
  shared_->changes.push_back({options, shared_->queue.put_so_far()});
  if (!shared_->running && !options.directory.empty()) {
    try {
      quiet_thread([shared = shared_] { DatasetThread(shared).run(); }).detach();
      shared_->running = true;
    } catch (const std::system_error &error) {
      shared_->figures.problem = fmt::format("no thread can be started to write the dataset: {}", error.what());
      if (shared_->say) shared_->say(true, shared_->figures.problem);
    }
  }
  shared_->changed.notify_all();
}

bool DatasetWriter::put(const Record &record) {
  {
    const std::lock_guard lock(shared_->mutex);
    if (shared_->options.directory.empty()) return true;
  }
  std::optional<Record> copy; // not made under the lock: it may be large
  try {
    copy = record;
  } catch (const std::bad_alloc &) {
  }
  const std::size_t bytes = memory_of(record);
  const std::lock_guard lock(shared_->mutex);
  const bool was_empty = shared_->queue.empty();
  const bool queued = copy && shared_->queue.put(std::move(*copy), bytes, shared_->gap());
  if (!copy) shared_->queue.refuse(shared_->gap());
  if (was_empty) shared_->changed.notify_one();
  return queued;
}

bool DatasetWriter::flush(int milliseconds) {
  std::unique_lock lock(shared_->mutex);
  const std::uint64_t until = shared_->queue.put_so_far();
  return shared_->settled.wait_for(lock, std::chrono::milliseconds(milliseconds),
                                   [&] { return shared_->queue.settled_until(until); });
}

DatasetFigures DatasetWriter::figures() const {
  const std::lock_guard lock(shared_->mutex);
  DatasetFigures figures = shared_->figures;
  figures.lost = shared_->queue.lost();
  figures.files = shared_->ended_files + (figures.file.empty() ? 0 : 1);
  figures.directory_bytes = shared_->ended_bytes + shared_->file_size;
  if (figures.problem.empty() && shared_->queue.full()) figures.problem = DatasetShared::queue_is_full;
  return figures;
}

} // namespace harmony
