// Fits the constants of exchanging (JobType::overlap, network_efficiency, ring_latency_s, spread) to measured speeds by
// GPUs and nodes. The built-in types hold what it found; it finds the same again. For one thread.
#pragma once

#include "src/sim/truth/job_type.h"

#include <string>
#include <vector>

namespace harmony {

// A gang of so many GPUs on so many nodes, evenly: its speed relative to one node.
struct Measured {
  std::string type; // ours
  int gpus = 0, nodes = 0;
  double ratio = 0;
  double modelled = 0; // by the fitted type

  double error() const { return modelled / ratio - 1; }
};

struct Calibration {
  std::vector<JobType> types; // as they were, but for the fitted constants
  std::vector<Measured> entries;
  std::vector<std::string> passed_over; // names in the file that are no type of ours

  double worst() const; // the largest error, whatever its sign
};

constexpr double calibration_goal = 0.15;

// `path`: JSON {"vgg16": {"4": {"1": 1.0, "2": 0.58}}}: by model, GPUs and nodes, as Chronus (SoCC'21) published it.
// The table does not say what machines it was measured on: they are taken for dgx1 with one network card of 100 Gbit/s.
// Throws std::runtime_error with the file and the entry.
Calibration calibrate(const std::string &path, const JobTypes &types);

// The fitted constants, then every entry with its error, for people.
std::string calibration_text(const Calibration &calibration);

} // namespace harmony
