// The records on their way to a DatasetWriter's thread: bounded in number and memory. Once it is full it stays closed
// until half of it is free again, so that what is lost is lost in a few large gaps, and each gap is told by a GapRecord
// at its place. Guarded by the one who has it.
#pragma once

#include "src/record/records.h"

#include <cstdint>
#include <deque>
#include <optional>
#include <string>

namespace harmony {

// About what it takes in memory.
std::size_t memory_of(const Record &record);

class RecordQueue {
public:
  void limit(std::size_t lines, std::size_t bytes);

  // False: it is full. `gap` is what would have to be told of that now, but for how many were lost.
  bool put(Record &&record, std::size_t bytes, const GapRecord &gap);
  void refuse(const GapRecord &gap); // the same as a put() that finds no room

  // Nothing if it is empty. A gap at the end of the queue comes out as soon as all before it is out.
  std::optional<Record> take();
  void settled() { ++settled_; }                            // the one taken was written,
  void lose_taken(const GapRecord &gap);                    // or cannot be
  void drop_until(std::uint64_t put, const GapRecord &gap); // they count as lost

  bool empty() const { return records_.empty() && untold_ == 0; }
  bool full() const { return full_; }
  std::uint64_t lost() const { return lost_; }
  std::uint64_t put_so_far() const { return put_; } // gaps among them
  bool settled_until(std::uint64_t put) const { return settled_ >= put; }

private:
  void push(Record &&record, std::size_t bytes);
  void push_gap();

  struct Queued {
    Record record;
    std::size_t bytes = 0;
  };
  std::deque<Queued> records_;
  std::size_t most_records_ = 0, most_bytes_ = 0, bytes_ = 0;
  bool full_ = false;
  std::uint64_t put_ = 0, settled_ = 0, lost_ = 0;
  std::uint64_t untold_ = 0; // lost since the last gap that was told,
  GapRecord gap_;            // and why, as of the first of them
};

} // namespace harmony
