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

  // The same, if the file is another one than it was: slurmctld tells times in seconds, and may be reconfigured twice
  // within one. True if it was read.
  bool read_if_changed();

  const Settings &in_force() const { return settings_; }
  const std::string &file() const { return file_; }       // "none" if there is no file
  const std::string &problem() const { return problem_; } // of the last reading; empty if it was good

private:
  struct Stamp { // of a file; all 0 if there is none
    unsigned long device = 0, file = 0;
    long size = 0, seconds = 0, nanoseconds = 0;
    bool operator==(const Stamp &other) const;
  };
  static Stamp stamp_of(const std::string &path);

  Stamp stamp_;
  Settings settings_;
  std::string file_ = "none";
  std::string problem_;
};

} // namespace harmony
