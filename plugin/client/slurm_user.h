// Who slurmctld runs as. Its header is free of Slurm, so that src/tool may include it.
#pragma once

#include <optional>
#include <string>
#include <sys/types.h>

namespace harmony {

// SlurmUser of this host's slurm.conf; nothing if there is none, or it cannot be read. slurmctld is not asked.
std::optional<uid_t> slurm_user_here();

// The slurm.conf of this host, which harmony.conf stands beside; empty if there is none.
std::string slurm_conf_here();

} // namespace harmony
