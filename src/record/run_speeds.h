// How fast gangs went in their intervals, worked out record by record. An interval of a simulation has its speed; those
// of a real run are held until the run's end says how many epochs it did, and are given up if it did not complete or
// was disturbed. For one thread.
#pragma once

#include "src/record/records.h"

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <tuple>
#include <vector>

namespace harmony {

// Gangs whose speeds can be compared.
struct GangKind {
  std::string type;
  int workers = 0, ps = 0;

  bool operator<(const GangKind &other) const {
    return std::tie(type, workers, ps) < std::tie(other.type, other.workers, other.ps);
  }
};

struct MeasuredInterval {
  IntervalRecord record;   // epochs filled in; relative_speed of simulations only
  GangKind kind;           // of the run
  double speed = 0;        // epochs a second, while it was not suspended
  double run_speed = 0;    // that of the whole run
  std::uint64_t order = 0; // the place of the record among all intervals
};

class RunSpeeds {
public:
  using Take = std::function<void(MeasuredInterval &&)>;

  // `take` gets every interval whose speed is known, as soon as it is; `give_up` those whose speed never will be.
  explicit RunSpeeds(Take take, Take give_up = {});

  void add(const Record &record);
  void finish(); // gives up what is left

  // The 95th percentile of the mean speeds of real runs, in epochs a second. Has every kind that `take` got of those.
  std::map<GangKind, double> fast_speeds() const;

private:
  struct Open {
    GangKind kind;
    std::vector<IntervalRecord> intervals;
    std::vector<std::uint64_t> order; // of each
  };
  void went(const IntervalRecord &interval);
  void ended(const EndRecord &end);

  void give_up(Open &run);

  Take take_, give_up_;
  std::uint64_t intervals_ = 0;
  std::map<RunId, Open> open_;
  std::map<GangKind, std::vector<double>> run_speeds_;
};

// Faster than this in comparison with the fast ones of its kind is no speed but a wrong declaration.
constexpr double most_relative_speed = 2;

} // namespace harmony
