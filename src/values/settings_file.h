// Reads and writes harmony.conf: Slurm's syntax, every problem with its line. Pure: text in, value out; from any
// thread.
//
// Not Slurm's own parser (s_p_*) on purpose: it cannot name the line of an unknown key, and it retries for 60 seconds
// under slurmctld's locks when a file is missing.
#pragma once

#include "src/values/settings.h"

#include <string>
#include <string_view>
#include <vector>

namespace harmony {

struct SettingsProblem {
  int line = 0;     // on which the key stands, from 1
  std::string text; // names key, value and what is allowed; one line, printable
};

struct SettingsReading {
  Settings settings;                     // what has a problem is left at its default
  std::vector<SettingsProblem> problems; // by line; with any, the caller stays with its last good settings
};

constexpr std::size_t max_settings_size = 64 * 1024;

SettingsReading read_settings(std::string_view text, const std::vector<std::string> &policy_names);

// All keys, one a line. Reading it back gives the same settings.
std::string settings_text(const Settings &settings);

} // namespace harmony
