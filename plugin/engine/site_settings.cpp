#include "plugin/slurm_version.h"

#include "plugin/engine/site_settings.h"

#include "src/policy/policy.h"
#include "src/values/settings_file.h"

#include <fmt/format.h>

#include <cerrno>
#include <fcntl.h>
#include <optional>
#include <sys/stat.h>
#include <unistd.h>

namespace harmony {
namespace {

std::string path_beside_slurm_conf() {
  char *path = get_extra_conf_path(const_cast<char *>("harmony.conf"));
  const std::string result = path ? path : "";
  xfree(path);
  return result;
}

// At most one byte more than is allowed: the reader says so then. Nothing if it is no file, or cannot be read; a pipe
// would keep slurmctld waiting.
std::optional<std::string> contents(const std::string &path) {
  const int file = open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (file < 0) return std::nullopt;
  struct stat status;
  std::optional<std::string> text;
  if (fstat(file, &status) == 0 && S_ISREG(status.st_mode)) {
    text.emplace(max_settings_size + 1, '\0');
    std::size_t size = 0;
    for (ssize_t got; (got = ::read(file, text->data() + size, text->size() - size)) > 0;)
      size += static_cast<std::size_t>(got);
    text->resize(size);
  }
  close(file);
  return text;
}

} // namespace

bool SiteSettings::Stamp::operator==(const Stamp &other) const {
  return device == other.device && file == other.file && size == other.size && seconds == other.seconds &&
         nanoseconds == other.nanoseconds;
}

SiteSettings::Stamp SiteSettings::stamp_of(const std::string &path) {
  struct stat status;
  if (path.empty() || stat(path.c_str(), &status) != 0) return {};
  return {status.st_dev, status.st_ino, status.st_size, status.st_mtim.tv_sec, status.st_mtim.tv_nsec};
}

bool SiteSettings::read_if_changed() {
  if (stamp_of(path_beside_slurm_conf()) == stamp_) return false;
  read();
  return true;
}

void SiteSettings::read() {
  const std::string path = path_beside_slurm_conf();
  problem_.clear();
  stamp_ = stamp_of(path);
  if (stamp_ == Stamp{} && (path.empty() || errno == ENOENT)) {
    file_ = "none";
    settings_ = {};
    return;
  }
  file_ = path;
  const auto complain = [this](const std::string &what) {
    error("harmony: %s; the last good configuration stays", what.c_str());
    if (problem_.empty()) problem_ = what;
  };
  const std::optional<std::string> text = contents(path);
  if (!text) return complain(fmt::format("{} cannot be read, or is no file", path));
  const SettingsReading reading = read_settings(*text, policy_names());
  for (const SettingsProblem &each : reading.problems)
    complain(fmt::format("{} line {}: {}", path, each.line, each.text));
  if (reading.problems.empty()) settings_ = reading.settings;
}

} // namespace harmony
