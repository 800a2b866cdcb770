// Puts the two live runs beside two simulated ones of the same workload: the table, the JSON, the report, and how far
// off the simulator is. For one thread.
#pragma once

#include <cstdint>
#include <string>

namespace harmony {

struct ResultOptions {
  std::string scenario, workload, policy;
  std::string model, torch_library; // for policy learned: the directory, and the file harmony_torch.so
  std::string stock_dir, ours_dir;  // of each run: submitted, gangs.log, probe-submitted, probe-gangs.log
  double speedup = 1, load = 0;
  std::uint64_t seed = 1;
  int max_wait_s = 3600;    // accelerated
  std::string report, json; // files; empty: none; - is standard output in place of the table
  std::string command;      // that does it again, for the report
  bool brief = false;       // the table of the quickstart
};

constexpr int exit_prediction_missed = 3;

int show_result(const ResultOptions &options); // the exit code; throws std::runtime_error

} // namespace harmony
