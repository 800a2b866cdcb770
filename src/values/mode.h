// What harmony may do: the `harmony_mode=` entry of slurm.conf's SchedulerParameters.
//
// Header only and free of the C++ run-time library, because the overlay reads it inside every
// Slurm command. May be called from any thread.
#pragma once

#include <string_view>

namespace harmony {

enum class Mode {
  off,     // pure delegation: the engine is not even loaded
  shadow,  // plan and record, change nothing
  enforce, // plan, and let Slurm carry the plan out
};

constexpr const char *mode_name(Mode mode) {
  switch (mode) {
  case Mode::shadow: return "shadow";
  case Mode::enforce: return "enforce";
  case Mode::off: break;
  }
  return "off";
}

constexpr const char *mode_names_allowed = "off, shadow, enforce";

// What SchedulerParameters says of us. Views point into the string that was read.
struct ModeSetting {
  Mode mode = Mode::off;
  std::string_view bad_value; // of harmony_mode, when it is none of the allowed; mode is off then
  bool bad = false;
  std::string_view unknown_entry; // the first harmony_* entry that is not ours to read
};

namespace detail {

constexpr char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

constexpr bool same_word(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i)
    if (lower(a[i]) != lower(b[i])) return false;
  return true;
}

constexpr std::string_view next_entry(std::string_view &rest) {
  const std::size_t comma = rest.find(',');
  const std::string_view entry = rest.substr(0, comma);
  rest = comma == std::string_view::npos ? std::string_view{} : rest.substr(comma + 1);
  return entry;
}

constexpr void read_mode_value(std::string_view value, ModeSetting &setting) {
  for (Mode mode : {Mode::off, Mode::shadow, Mode::enforce})
    if (same_word(value, mode_name(mode))) {
      setting.mode = mode;
      setting.bad = false;
      return;
    }
  setting.mode = Mode::off;
  setting.bad = true;
  setting.bad_value = value;
}

} // namespace detail

// Reads SchedulerParameters, a comma-separated list as slurm.conf(5) has it. Absent means off; of several
// harmony_mode entries the last one counts, as with Slurm's own keys.
constexpr ModeSetting mode_from_scheduler_parameters(std::string_view parameters) {
  constexpr std::string_view prefix = "harmony_";
  ModeSetting setting;
  while (!parameters.empty()) {
    const std::string_view entry = detail::next_entry(parameters);
    if (!detail::same_word(entry.substr(0, prefix.size()), prefix)) continue;
    const std::size_t equals = entry.find('=');
    const std::string_view key = entry.substr(0, equals);
    if (detail::same_word(key, "harmony_mode"))
      detail::read_mode_value(equals == std::string_view::npos ? std::string_view{} : entry.substr(equals + 1),
                              setting);
    else if (setting.unknown_entry.empty())
      setting.unknown_entry = entry;
  }
  return setting;
}

} // namespace harmony
