// Copies what slurmctld knows of its nodes' topologies into the store, and serves the local socket.
//
// One thread, started once and never ended: slurmctld ends its plugins' threads by exiting. It takes slurmctld's node
// read lock for as long as it takes to see what changed, and works everything out without it.
#pragma once

#include "plugin/engine/rounds.h"

namespace harmony {

// Starts the thread; safe to call again. Under slurmctld's locks, because slurm.conf is read. `state` must live as long
// as the process.
void watch_nodes(PlannerState &state);

} // namespace harmony
