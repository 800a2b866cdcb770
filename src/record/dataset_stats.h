// What is in a dataset, counted record by record. Of runs that have not ended it holds a few figures each, and their
// intervals; nothing else grows with the dataset. For one thread.
#pragma once

#include "src/record/dataset_reader.h"
#include "src/record/pair_coverage.h"
#include "src/record/run_speeds.h"

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace harmony {

// Runs that have something in common.
struct RunsStats {
  std::uint64_t runs = 0, completed = 0; // started; ended in state COMPLETED
  double gpu_hours = 0;                  // of those that ended
  std::optional<double> wait_s;          // mean, from submission to start
  std::optional<double> elapsed_s;       // mean, of those completed
  std::optional<double> slowdown;        // 1 / mean relative speed, where speeds are known
};

struct TimeSpan {
  double first_s = 0, last_s = 0;
};

struct DatasetStats {
  DatasetReading reading;
  std::map<std::string, TimeSpan> clusters;
  std::map<std::string, std::uint64_t> records; // by kind, all kinds
  std::uint64_t runs = 0, complete = 0, open = 0;
  std::uint64_t lost_end = 0;       // a later run of the job was seen, or its time limit is long over
  std::uint64_t without_start = 0;  // of those complete
  std::uint64_t claiming = 0;       // runs with an owner's claim
  std::uint64_t without_epochs = 0; // of those completed: their speed is not known
  std::uint64_t disturbed = 0;      // of those complete
  std::map<std::string, std::uint64_t> states;
  std::map<std::string, RunsStats> types;
  std::map<std::string, RunsStats> policies; // whether the plan was used or not; "": not known
  RunsStats plan, stock;                     // without runs of which only the middle was seen
  std::uint64_t shadow_same = 0;             // shadow decisions by which stock did just what was planned
  std::uint64_t lost_records = 0;
  PairCoverage coverage;
};

const char *kind_of(const Record &record); // "start", as in JSON

class DatasetCounter {
public:
  DatasetCounter();
  DatasetCounter(const DatasetCounter &) = delete;
  DatasetCounter &operator=(const DatasetCounter &) = delete;

  void add(const Record &record);
  DatasetStats stats(const DatasetReading &reading) const;

private:
  struct Sum {
    RunsStats runs;
    double wait_s = 0, elapsed_s = 0;
    std::uint64_t waits = 0;
    RelativeSpeeds speeds;
  };
  struct Open {
    std::array<Sum *, 3> sums{}; // of its type, of its policy, and of plan or stock if it is known which
    int gpus = 0;
    bool claims = false;
    double until_s = 0; // by its time limit; 0: without one
  };
  void begin(const StartRecord &start);
  void went(const IntervalRecord &interval);
  void end(const EndRecord &end);
  void lose_earlier(const RunId &id);
  void measured(const MeasuredInterval &interval);
  void see(const std::string &cluster, double at_s);
  void claimed(const RunId &id);

  DatasetStats counted_; // without what is known at the end only
  std::map<RunId, Open> open_;
  std::map<std::string, Sum> types_, policies_;
  Sum plan_, stock_;
  PairCounter pairs_;
  RunSpeeds speeds_;
};

} // namespace harmony
