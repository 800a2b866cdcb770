// `harmony dataset`: what is in a dataset, whether it is sound, its tables, and what sacct knows as one.
#pragma once

#include <CLI/CLI.hpp>

#include <string>

namespace harmony {

enum class DatasetAction { stats, check, export_csv, import_sacct };

struct DatasetCommand {
  DatasetAction action = DatasetAction::stats;
  std::string directory; // empty on the command line: the caller puts the default there
  std::string svg, csv;
  bool json = false, runs = false;
  std::string sacct, to, cluster, users = "hash";
  bool skip_bad = false;
};

CLI::App *add_dataset(CLI::App &app, DatasetCommand &command);

// The exit code.
int run_dataset(const DatasetCommand &command);

} // namespace harmony
