#include "src/tool/settings_here.h"

#include "plugin/client/slurm_user.h"
#include "src/policy/policy.h"
#include "src/values/settings_file.h"

#include <fstream>
#include <string>

namespace harmony {

Settings settings_here() {
  const std::string slurm_conf = slurm_conf_here();
  std::ifstream file(slurm_conf.substr(0, slurm_conf.rfind('/') + 1) + "harmony.conf");
  if (slurm_conf.empty() || !file) return {};
  std::string text(max_settings_size + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  const SettingsReading reading = read_settings(text, policy_names());
  return reading.problems.empty() ? reading.settings : Settings();
}

} // namespace harmony
