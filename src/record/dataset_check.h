// Whether the records of a dataset agree with each other: every run starts once and ends once, its intervals follow one
// another, and time does not go back. Holds a few figures of every run that has not ended, and the numbers of those
// that have. For one thread.
#pragma once

#include "src/record/dataset_reader.h"

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <unordered_set>

namespace harmony {

class DatasetChecker {
public:
  explicit DatasetChecker(std::function<void(DatasetFault &&)> tell) : tell_(std::move(tell)) {}

  void add(const Record &record, const RecordPlace &place);

  // Runs whose start is not there and need not be: an older file was taken away, or records were lost and a gap says
  // so.
  std::uint64_t cut_off() const { return cut_off_; }
  std::uint64_t lost() const { return lost_; } // records that gaps tell of
  std::uint64_t open() const { return open_.size(); }

private:
  struct Open {
    double begin_s = 0, until_s = 0; // of the run; the end of its last interval
    bool start_known = false;
    std::string file;
    int line = 0; // where it started
  };
  struct ClusterState {
    bool seen = false;
    double first_s = 0, gap_s = 0;
    bool has_gap = false;
    std::unordered_set<std::uint64_t> ended; // job and run
  };
  void fault(const RecordPlace &place, std::string what);
  void moment(const std::string &cluster, double at_s, const RecordPlace &place);
  bool has_ended(const RunId &id, const char *what, const RecordPlace &place);
  Open &run_of(const RunId &id, double begin_s, bool explained, const char *what, const RecordPlace &place);
  void begin(const StartRecord &start, const RecordPlace &place);
  void went(const IntervalRecord &interval, const RecordPlace &place);
  void end(const EndRecord &end, const RecordPlace &place);

  std::function<void(DatasetFault &&)> tell_;
  std::map<RunId, Open> open_;
  std::map<std::string, ClusterState> clusters_;
  std::string file_; // the present one, and the latest moment in it, by cluster
  std::map<std::string, double> latest_s_;
  std::uint64_t cut_off_ = 0, lost_ = 0;
};

} // namespace harmony
