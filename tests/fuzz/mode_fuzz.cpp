// Fuzzes the reading of SchedulerParameters, which happens inside slurmctld.

// links:
#include "src/values/mode.h"

#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const unsigned char *data, std::size_t size) {
  using namespace harmony;
  const std::string_view text(reinterpret_cast<const char *>(data), size);
  const ModeSetting setting = mode_from_scheduler_parameters(text);
  const auto within = [text](std::string_view part) {
    return part.empty() || (part.data() >= text.data() && part.data() + part.size() <= text.data() + text.size());
  };
  if (!within(setting.bad_value) || !within(setting.unknown_entry)) std::abort();
  if (setting.bad && setting.mode != Mode::off) std::abort();
  return 0;
}
