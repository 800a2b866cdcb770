#include "plugin/slurm_version.h"

#include "plugin/client/slurm_user.h"

#include <cstdlib>
#include <string>
#include <unistd.h>

namespace harmony {

// Where Slurm looks for it: packages, its own default, and what slurmd fetched on a host without one.
std::string slurm_conf_here() {
  if (const char *named = std::getenv("SLURM_CONF"); named && *named) return named;
  for (const char *path : {"/etc/slurm/slurm.conf", "/usr/local/etc/slurm.conf", "/run/slurm/conf/slurm.conf"})
    if (access(path, R_OK) == 0) return path;
  return {};
}

std::optional<uid_t> slurm_user_here() {
  // Slurm ends the process if it has to look for the file itself and finds none.
  const std::string path = slurm_conf_here();
  if (path.empty() || access(path.c_str(), R_OK) != 0 || !&slurm_conf) return std::nullopt;
  if (slurm_conf_init(path.c_str()) != SLURM_SUCCESS) return std::nullopt;
  return slurm_conf.slurm_user_id;
}

} // namespace harmony
