// From a dataset to a better policy in a store: reads, fits the reward model, trains, judges, and publishes what is
// better beyond the noise. For one thread; it starts others.
#pragma once

#include "src/learn/gym.h"
#include "src/values/settings.h"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace harmony {

struct RetrainOptions {
  std::vector<std::string> datasets;
  std::string store;                   // directory of published models
  int base = 0;                        // version that training begins with; 0: the one in service, else the shipped one
  std::string shipped = shipped_model; // its directory
  bool from_scratch = false;           // begins with none, and is compared with none
  double hours = 0.5;                  // how much is done; about that long on two cores
  std::uint64_t seed = 1;
  std::string algorithm = "harmony"; // or ppo
  std::vector<std::string> without;  // ablations: value, exploration, replay, warm-start, reward-model, re-ranking
  std::vector<std::string> held_out_types;
  std::string name = "harmony";
  std::string command;       // that is being run, for the model card
  std::string work;          // where checkpoints and curves are kept; empty: beside the store
  std::string torch_library; // harmony_torch.so, by which slurmctld will load the model; it is tried before publishing
  bool force = false, dry_run = false;
  int threads = 2;
  int max_wait_s = 3600;
  int judge_seeds = 6;
  std::function<bool()> stop = [] { return false; };
  std::function<void(const std::string &stage, double done, const std::string &line)> progress; // done: of everything
  std::function<void(const std::string &line)> say;
};

enum class RetrainEnd {
  published,      // a new version is in the store
  nothing_better, // and nothing was published
  too_small,      // the dataset
};

// Throws std::runtime_error for everything else that goes wrong.
RetrainEnd retrain(const RetrainOptions &options);

} // namespace harmony
