// Asking a slurmctld over Slurm's own authenticated RPC, from any host with a slurm.conf.
// Its header is free of Slurm, so that src/tool may include it.
#pragma once

#include "src/values/controller_report.h"

namespace harmony {

// Waits as long as slurm.conf's MessageTimeout allows.
ControllerReport ask_controller();

// The Slurm version this build is for, such as "22.05.8".
const char *built_for_slurm();

} // namespace harmony
