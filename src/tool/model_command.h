// `harmony model`: what is in the model store, whether it is sound, and which version slurmctld is to use.
#pragma once

#include <string>
#include <vector>

namespace harmony {

enum class ModelAction { list, show, verify, use, rollback, add, features };

struct ModelOptions {
  ModelAction action = ModelAction::list;
  std::string store;              // empty: what harmony.conf says, else the default
  std::string what;               // a version or a directory, as the action needs it; empty: the version in use
  std::string slurm_user;         // a name or a uid; empty: that of slurm.conf, else the caller
  std::vector<std::string> types; // features: job types that the model knows
  bool json = false;
};

// The exit code: 0 done, or sound; 1 it failed, or something is wrong with the model or the store; 2 wrong usage.
// Problems go to stderr as `harmony model ACTION: ...`.
int run_model(const ModelOptions &options);

} // namespace harmony
