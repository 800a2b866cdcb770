// Writes the dataset of a slurmctld: files of JSON lines in one directory, the newest plain, older ones compressed, the
// oldest taken away. On a thread of its own behind a bounded queue: put() never waits, whatever the disk does.
//
// A line is written by one write(2) and is in the kernel's hands at once, so that killing slurmctld loses only what is
// in the queue. What could not be written is counted, and a GapRecord tells of it once writing is possible again. No
// file is ever written to again that another process may have torn: each start begins a new one.
//
//   DIR/20261116T103000Z-0000.jsonl      the newest
//   DIR/20261115T000000Z-0000.jsonl.gz   older
//
// put(), set_options() and the figures: any thread. Never destroyed while slurmctld runs.
#pragma once

#include "src/record/records.h"
#include "src/values/settings.h"

#include <cstdint>
#include <memory>
#include <string>

namespace harmony {

struct DatasetOptions {
  std::string directory; // empty: nothing is written
  std::string cluster;
  DatasetUsers users = DatasetUsers::hash;           // how StartRecord::user_id becomes StartRecord::user
  std::uint64_t file_bytes = 64 << 20;               // a file is ended at this size, and at midnight (UTC)
  std::uint64_t most_bytes = std::uint64_t{1} << 30; // of the whole directory (DatasetMaxSize)
  std::size_t queue_lines = 65536;
  std::size_t queue_bytes = 64 << 20;
};

struct DatasetFigures {
  std::uint64_t written = 0, lost = 0, bytes = 0; // since the start; bytes as they were written
  std::uint64_t files = 0, directory_bytes = 0;   // that are there now
  std::uint64_t generation = 0;                   // counts the files begun
  std::string file;                               // being written; empty: none
  std::string problem;                            // why records are being lost; empty if they are not
};

struct DatasetShared;

class DatasetWriter {
public:
  // `say` is told of a problem once when it begins and once when it is over, from the writer's thread.
  using Say = void (*)(bool is_error, const std::string &line);
  explicit DatasetWriter(Say say);
  ~DatasetWriter(); // writes what is queued, for 2 s at most

  // What was put before still goes where it would have gone, unless nothing can be written there.
  void set_options(const DatasetOptions &options);

  // False: the queue is full, and the record is counted as lost. Without a directory it is dropped and not counted.
  bool put(const Record &record);

  // Waits until all that was put has been written or lost, at most so long. For tests and a clean end.
  bool flush(int milliseconds);

  DatasetFigures figures() const;

private:
  std::shared_ptr<DatasetShared> shared_;
};

} // namespace harmony
