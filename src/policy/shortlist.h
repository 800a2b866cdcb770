// The nodes that a model is asked about. Of a large cluster in many different states that is a diverse part: scoring
// all of them for every gang of a long queue would take longer than a round has.
#pragma once

#include "src/encode/encoder.h"
#include "src/plan/rooms.h"
#include "src/values/bits.h"

namespace harmony {

// About `most` nodes with room: those with least left over, the emptiest, those with the least load of other jobs,
// those that take most tasks, and all that the component must use. Which nodes those are depends on what they are like;
// their numbers decide only between nodes alike.
Bits shortlist(const Rooms &rooms, const Encoder &encoder, int most);

} // namespace harmony
