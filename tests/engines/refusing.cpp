// Cannot work in any mode.
#include "tests/engines/engines.h"

namespace harmony {
static bool refuse_mode(Mode) { return false; }
} // namespace harmony

const harmony::EngineApi harmony_engine = {harmony::engine_layout, SLURM_VERSION_NUMBER,    HARMONY_VERSION,
                                           harmony::refuse_mode,   harmony::leave_to_stock, harmony::report_nothing};
