// Fuzzes the reading of harmony.conf, which happens inside slurmctld: whatever comes in, each problem names a line of
// the file in printable words, and the settings are sound, so that they survive being written and read again.

// links: src/values/settings_file.cpp src/values/units.cpp
#include "src/values/settings_file.h"

#include <algorithm>
#include <cstdlib>

namespace {

const std::vector<std::string> policies = {"pack", "one-distributed", "learned", "stock"};

bool fit_for_the_log(const std::string &text) {
  return !text.empty() && text.size() < 1024 &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~'; });
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char *data, std::size_t size) {
  using namespace harmony;
  const std::string_view text(reinterpret_cast<const char *>(data), size);
  const SettingsReading reading = read_settings(text, policies);
  const auto lines = std::count(text.begin(), text.end(), '\n') + 1;
  for (const SettingsProblem &problem : reading.problems)
    if (problem.line < 1 || problem.line > lines || !fit_for_the_log(problem.text)) std::abort();

  const std::string written = settings_text(reading.settings);
  const SettingsReading again = read_settings(written, policies);
  if (!again.problems.empty() || settings_text(again.settings) != written) std::abort();
  return 0;
}
