// Throws at every question that slurmctld asks.
#include "tests/engines/engines.h"

#include <stdexcept>

namespace harmony {
namespace {

WallLog wall;

bool throwing_job_test(const JobTest &, StockJobTest, int *) {
  return guarded(wall, "job_test", false, []() -> bool { throw std::runtime_error("thrown by a test"); });
}

} // namespace
} // namespace harmony

const harmony::EngineApi harmony_engine = {harmony::engine_layout, SLURM_VERSION_NUMBER,   HARMONY_VERSION,
                                           harmony::accept_mode,   harmony::look_nowhere,  harmony::throwing_job_test,
                                           harmony::ignore_job,    harmony::ignore_job,    harmony::start_nothing,
                                           harmony::stop_nothing,  harmony::report_nothing};
