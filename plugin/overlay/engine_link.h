// The overlay's end of the border to the engine: loads it when a mode asks for it, and answers "ask stock"
// whenever there is none.
//
// Part of the overlay: free of exceptions and of the C++ run-time library. apply() runs under slurmctld's write locks
// (at start and at reconfigure); the rest may be called from any thread.
#pragma once

#include "plugin/engine/engine_api.h"

namespace harmony {

class EngineLink {
public:
  // Follows SchedulerParameters: loads the engine if a mode other than off asks for it, and tells it the mode.
  void apply(const char *scheduler_parameters);

  // The engine, when its answers are wanted; nullptr in mode off or without a working engine.
  const EngineApi *active() const { return __atomic_load_n(&active_, __ATOMIC_ACQUIRE); }

  // What `harmony status` shows: the mode slurm.conf asks for, and what became of it.
  Mode mode() const { return __atomic_load_n(&mode_, __ATOMIC_RELAXED); }
  const char *state() const { return __atomic_load_n(&state_, __ATOMIC_ACQUIRE); }

private:
  bool load();
  const EngineApi *engine_for(Mode mode);

  const EngineApi *engine_ = nullptr; // once loaded it stays: slurmctld may be inside it
  const EngineApi *active_ = nullptr;
  Mode mode_ = Mode::off;
  const char *state_ = "not needed"; // one of a few constants
};

} // namespace harmony
