// `harmony sim`: policies compared on simulated clusters.
#pragma once

#include <CLI/CLI.hpp>

#include <string>
#include <vector>

namespace harmony {

struct SimCommand {
  std::vector<std::string> scenarios, policies;
  std::string cluster, jobs, format = "auto", types, speeds, contention, combine = "product";
  std::vector<double> loads;
  int seeds = 0; // 0: 8 of a scenario, 1 of a file
  int first_seed = 1;
  int count = 0; // jobs of a workload; 0: the scenario's own number, or all
  std::string order = "submit";
  double interval_s = 0, limit_factor = 3, noise_worker = 0, noise_epoch = 0;
  int depth = 500, promises = 8, max_wait_s = 3600, threads = 0;
  std::string dataset, dataset_out, model, json, report, jobs_out;
  std::string torch_library; // harmony_torch.so, which policy learned needs
  bool skip_bad = false, time_decisions = false, list = false;
  std::string calibrate; // a table; empty: not asked for
  std::string command_line;
};

CLI::App *add_sim(CLI::App &app, SimCommand &command);

// The exit code.
int run_sim(const SimCommand &command);

} // namespace harmony
