// Built from another release than the overlay beside it.
#include "tests/engines/engines.h"

const harmony::EngineApi harmony_engine = {harmony::engine_layout, SLURM_VERSION_NUMBER,   "0.0.1-other",
                                           harmony::accept_mode,   harmony::look_nowhere,  harmony::leave_to_stock,
                                           harmony::ignore_job,    harmony::ignore_job,    harmony::start_nothing,
                                           harmony::stop_nothing,  harmony::report_nothing};
