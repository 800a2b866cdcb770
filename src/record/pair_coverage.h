// Which types of jobs have been seen side by side, for how long, and how fast they went then: what a dataset can teach
// and what it cannot. For one thread.
#pragma once

#include "src/record/run_speeds.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace harmony {

struct PairSeen {
  double seconds = 0;
  std::optional<double> speed; // median by time, relative to the fast ones of its kind; of those whose speed is known
};

struct PairCoverage {
  std::vector<std::string> types;                                // those seen for longest first, as victim or neighbour
  std::map<std::pair<std::string, std::string>, PairSeen> pairs; // victim and neighbour; those seen
  std::map<std::string, PairSeen> alone;                         // without any neighbour

  std::size_t possible() const { return types.size() * types.size(); } // any beside any, its own type too
};

// Speeds with their times, kept as counts by steps of half a percent: small, however many there are.
class SpeedSpread {
public:
  void add(double speed, double seconds);
  void add(const SpeedSpread &other, double divided_by); // speeds of one kind, made relative
  std::optional<double> median() const;                  // empty: nothing was added
  std::optional<double> mean() const;

private:
  std::map<int, double> seconds_; // by step
};

// Speeds that become relative once the fast ones of every kind are known.
class RelativeSpeeds {
public:
  void add(const MeasuredInterval &interval);
  SpeedSpread relative_to(const std::map<GangKind, double> &fast) const;

private:
  SpeedSpread relative_; // of simulations
  std::map<GangKind, SpeedSpread> of_kind_;
};

class PairCounter {
public:
  void saw(const IntervalRecord &interval);
  void measured(const MeasuredInterval &interval);
  PairCoverage coverage(const std::map<GangKind, double> &fast) const;

private:
  struct Seen {
    double seconds = 0;
    RelativeSpeeds speeds;
  };
  std::map<std::pair<std::string, std::string>, Seen> pairs_;
  std::map<std::string, Seen> alone_;
  std::map<std::string, double> types_; // seconds
};

} // namespace harmony
