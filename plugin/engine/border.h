// The wall as Slurm sees it: an exception in the engine becomes one line in slurmctld.log and a delegation.
#pragma once

#include "plugin/slurm_version.h"

#include "plugin/engine/wall.h"

namespace harmony {

// Runs the body of one function of EngineApi behind the wall; `otherwise` must be the answer that delegates, and
// `instead` says what happens then.
template <class Result, class Body>
Result guarded(WallLog &log, const char *function, Result otherwise, Body body,
               const char *instead = "using stock selection") noexcept {
  const auto say = [function, instead](const char *what) {
    error("harmony: %s: %s; %s (more of these are logged once a minute)", function, what, instead);
  };
  return behind_wall(log, otherwise, say, body);
}

// The same for what has no answer.
template <class Body> void guarded(WallLog &log, const char *function, const char *instead, Body body) noexcept {
  guarded(
      log, function, false,
      [&body] {
        body();
        return true;
      },
      instead);
}

} // namespace harmony
