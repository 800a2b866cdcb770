// What a slurmctld says of itself and of the overlay in it. A plain value: filled by the Slurm side (plugin/client),
// read by `harmony status`.
#pragma once

#include <map>
#include <string>

namespace harmony {

struct ControllerReport {
  bool answered = false;
  std::string problem; // why it did not answer

  std::string host;
  std::string slurm_version;
  std::string plugin_dir;
  std::string state_directory;                // StateSaveLocation
  unsigned slurm_user = 0;                    // SlurmUser's uid
  std::map<std::string, std::string> harmony; // the overlay's own facts, Harmony*; empty if stock runs
};

} // namespace harmony
