// Cannot work in any mode.
#include "tests/engines/engines.h"

namespace harmony {
static bool refuse_mode(Mode) { return false; }
} // namespace harmony

const harmony::EngineApi harmony_engine = {harmony::engine_layout, SLURM_VERSION_NUMBER,   HARMONY_VERSION,
                                           harmony::refuse_mode,   harmony::look_nowhere,  harmony::leave_to_stock,
                                           harmony::ignore_job,    harmony::ignore_job,    harmony::start_nothing,
                                           harmony::stop_nothing,  harmony::report_nothing};
