// Nodes on which a job could start now, as slurmctld's own bitmaps have it. Under its node lock.
#pragma once

#include "src/values/bits.h"

namespace harmony {

// Up, not drained, not completing, not powered down, not taken by a job that does not share.
Bits usable_nodes();

// Whether some node is usable now that is not among these.
bool usable_beyond(const Bits &nodes);

} // namespace harmony
