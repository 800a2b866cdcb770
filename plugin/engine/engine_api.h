// The border between the overlay (thin, in every Slurm process) and the engine (in slurmctld only).
//
// Both sides must come from the same build: the overlay compares `layout`, `slurm_version` and `version`
// before it calls anything else. No exception crosses this border: see wall.h.
#pragma once

#include "plugin/slurm_version.h"
#include "src/values/mode.h"

namespace harmony {

// Raised whenever EngineApi changes.
constexpr uint32_t engine_layout = 2;

struct EngineApi {
  uint32_t layout;
  uint32_t slurm_version;
  char version[32];

  // At start and at `scontrol reconfigure`, under slurmctld's write locks. Returns false if the engine
  // cannot work in this mode; the overlay then delegates everything.
  bool (*set_mode)(Mode mode);

  // slurmctld may have been reconfigured, or only changed a partition: reads harmony.conf if the file changed. Under
  // the same locks.
  void (*look_again)();

  // True if the engine answered the question (`*answer`); false means: ask stock. Called in modes shadow and enforce
  // with slurmctld's job and node write locks held, so it must be short. `stock` is the stock plugin's job_test.
  bool (*job_test)(const JobTest &call, StockJobTest stock, int *answer);

  // slurmctld has allocated the job's resources (also at its own start, for jobs that run already), or the job has
  // given them back. Under the same locks as job_test.
  void (*job_placed)(job_record_t *job);
  void (*job_ended)(job_record_t *job);

  // The planning rounds, from the sched overlay: begin, when slurmctld takes charge (safe to call again), and end.
  bool (*start_rounds)();
  void (*stop_rounds)();

  // Gives each fact worth showing in `harmony status` to `tell`. From any thread.
  void (*report)(void (*tell)(void *to, const char *name, const char *value), void *to);
};

constexpr const char *engine_file = "harmony_engine.so";
constexpr const char *engine_symbol = "harmony_engine";

} // namespace harmony
