// The wall as Slurm sees it: an exception in the engine becomes one line in slurmctld.log and a delegation.
#pragma once

#include "plugin/slurm_version.h"

#include "plugin/engine/wall.h"

namespace harmony {

// Runs the body of one function of EngineApi behind the wall; `otherwise` must be the answer that delegates.
template <class Result, class Body>
Result guarded(WallLog &log, const char *function, Result otherwise, Body body) noexcept {
  const auto say = [function](const char *what) {
    error("harmony: %s: %s; using stock selection (more of these are logged once a minute)", function, what);
  };
  return behind_wall(log, otherwise, say, body);
}

} // namespace harmony
