// sbatch, srun and salloc: --harmony-type, --harmony-ps, --harmony-epochs, --harmony-model-mb.
#pragma once

extern "C" {
#include "slurm/spank.h"
}

namespace harmony {

void register_job_options(spank_t spank);

// Sets HARMONY_TYPE, HARMONY_PS, HARMONY_EPOCHS and HARMONY_MODEL_MB for the tasks, as far as they were given.
void export_job_options(spank_t spank);

// On the node: whether the job has any of them.
bool has_job_options();

} // namespace harmony
