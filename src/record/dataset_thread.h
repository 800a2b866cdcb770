// The two threads behind a DatasetWriter: the one that writes, and a short-lived one of the lowest priority that
// compresses and removes files. They share nothing with its caller but DatasetShared, whose mutex is never held while
// the disk is at work.
#pragma once

#include "src/record/dataset_files.h"
#include "src/record/dataset_writer.h"
#include "src/record/record_queue.h"
#include "src/record/user_words.h"

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

namespace harmony {

// All but `stop_upkeep` is guarded by the mutex.
struct DatasetShared {
  static constexpr const char *queue_is_full = "the queue is full: records come faster than they can be written";

  std::mutex mutex;
  std::condition_variable changed; // for the writing thread: there is something to do
  std::condition_variable settled; // for those who wait for it
  DatasetWriter::Say say = nullptr;
  RecordQueue queue;
  DatasetOptions options; // the latest
  struct Change {
    DatasetOptions options;
    std::uint64_t after = 0; // in force once so many that were put before are settled
  };
  std::deque<Change> changes; // that are not in force yet
  bool running = false, stop = false;
  DatasetFigures figures; // without what is counted elsewhere
  std::uint64_t file_size = 0, ended_files = 0, ended_bytes = 0;

  bool keeping = false, keep_again = false; // the second thread
  std::string keep_problem;
  std::atomic<bool> stop_upkeep{false};

  GapRecord gap() const; // of now, but for how many
};

class DatasetThread {
public:
  explicit DatasetThread(std::shared_ptr<DatasetShared> shared) : shared_(std::move(shared)) {}
  void run();

private:
  bool safe_step();
  bool step();
  bool wait(std::unique_lock<std::mutex> &lock);
  bool has_change() const;
  void apply(const DatasetShared::Change &change);
  void make_line(const Record &record);
  StartRecord with_user(StartRecord start);
  void write_line();
  void lose_line();
  void sync();
  void wrong(const std::string &problem);
  void right();
  void post();
  void ask_upkeep();
  void say(bool is_error, const std::string &line) const;
  std::uint64_t file_bytes() const;

  const std::shared_ptr<DatasetShared> shared_;
  DatasetFiles files_;
  DatasetOptions options_; // in force
  UserWords users_;
  std::string line_;      // with its newline, to be written next; empty: none
  std::uint64_t gap_ = 0; // how many were lost, if the line tells of it
  std::string gap_why_;
  std::string problem_; // empty: the last line could be written
  std::string told_keep_problem_;
  std::int64_t retry_at_ = 0, pause_ms_ = 0, sync_at_ = 0; // by now_ms(); sync_at_ 0: nothing to sync
  std::uint64_t generation_ = 0;
};

} // namespace harmony
