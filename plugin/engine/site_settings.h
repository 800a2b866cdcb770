// harmony.conf of this site: read at start and at reconfigure, beside slurm.conf.
#pragma once

#include "src/values/settings.h"

#include <string>

namespace harmony {

class SiteSettings {
public:
  // Reads the file; under slurmctld's locks, because slurm.conf says where it is. With any problem in it, each is one
  // line in the log, and the last good settings stay (the defaults, if there were none).
  void read();

  const Settings &in_force() const { return settings_; }
  const std::string &file() const { return file_; }       // "none" if there is no file
  const std::string &problem() const { return problem_; } // of the last reading; empty if it was good

private:
  Settings settings_;
  std::string file_ = "none";
  std::string problem_;
};

} // namespace harmony
