// The SPANK plugin: slurmd publishes its topology when it starts, sbatch, srun and salloc have options to describe a
// job, and steps are watched on their nodes. This file only sends each context to its own.
//
// plugstack.conf:  optional /usr/local/lib/slurm-harmony/harmony_spank.so [xml=FILE | synthetic=PROFILE | nopublish]
//                  [observe | observe=SECONDS] [observe=all]
//
// Loaded into every srun, sbatch, salloc, slurmd and slurmstepd: no C++ run-time library, no exceptions.

#include "plugin/spank/job_options.h"
#include "plugin/spank/observe_step.h"
#include "plugin/spank/publish_at_start.h"

extern "C" {
#include "slurm/slurm_version.h"
#include "slurm/spank.h"

extern const char plugin_name[];
extern const char plugin_type[];
extern const unsigned int plugin_version;
const char plugin_name[] = "harmony";
const char plugin_type[] = "spank";
const unsigned int plugin_version = SLURM_VERSION_NUMBER;

int slurm_spank_init(spank_t spank, int count, char **words) {
  if (spank_context() == S_CTX_SLURMD)
    harmony::publish_at_start(count, words);
  else
    harmony::register_job_options(spank);
  return ESPANK_SUCCESS;
}

// On the node, before tasks start: they find what their job was described as in their environment.
int slurm_spank_user_init(spank_t spank, int, char **) {
  harmony::export_job_options(spank);
  return ESPANK_SUCCESS;
}

// On the node, once the job's options are known and before the step's first task.
int slurm_spank_init_post_opt(spank_t spank, int count, char **words) {
  if (spank_context() == S_CTX_REMOTE) harmony::observe_step(spank, count, words);
  return ESPANK_SUCCESS;
}

int slurm_spank_exit(spank_t, int, char **) {
  if (spank_context() == S_CTX_REMOTE) harmony::end_observation();
  return ESPANK_SUCCESS;
}

} // extern "C"
