// In slurmstepd: `harmony observe` is started beside the step, as a process that is neither of the job's nor waited
// for, and told when the step is over. For slurmstepd's main thread.
#pragma once

extern "C" {
#include "slurm/spank.h"
}

namespace harmony {

// The arguments are those of plugstack.conf. Steps of jobs without any option of ours are left alone unless these say
// all.
void observe_step(spank_t spank, int count, char **words);

// Waits for what was seen to be on its way to slurmctld, 2 s at most; not for that of a large step, which is sent
// later.
void end_observation();

} // namespace harmony
