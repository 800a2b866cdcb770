#include "plugin/slurm_version.h"

#include "plugin/engine/site_settings.h"

#include "src/policy/policy.h"
#include "src/values/settings_file.h"

#include <fmt/format.h>

#include <cerrno>
#include <fstream>
#include <iterator>
#include <sys/stat.h>

namespace harmony {
namespace {

constexpr std::size_t max_file = 64 << 10;

std::string path_beside_slurm_conf() {
  char *path = get_extra_conf_path(const_cast<char *>("harmony.conf"));
  const std::string result = path ? path : "";
  xfree(path);
  return result;
}

} // namespace

void SiteSettings::read() {
  const std::string path = path_beside_slurm_conf();
  problem_.clear();
  struct stat status;
  if (path.empty() || (stat(path.c_str(), &status) != 0 && errno == ENOENT)) {
    file_ = "none";
    settings_ = {};
    return;
  }
  file_ = path;
  const auto complain = [this](const std::string &what) {
    error("harmony: %s; the last good configuration stays", what.c_str());
    if (problem_.empty()) problem_ = what;
  };
  std::ifstream file(path, std::ios::binary);
  if (!file || !S_ISREG(status.st_mode)) return complain(fmt::format("{} cannot be read", path));
  std::string text(max_file + 1, '\0'); // one byte more than is allowed: the reader says so then
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  const SettingsReading reading = read_settings(text, policy_names());
  for (const SettingsProblem &each : reading.problems)
    complain(fmt::format("{} line {}: {}", path, each.line, each.text));
  if (reading.problems.empty()) settings_ = reading.settings;
}

} // namespace harmony
