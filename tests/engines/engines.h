// Engines that are wrong on purpose, for tests/live/bad_input_test.sh. They pass the border as the real one does.
#pragma once

#include "plugin/engine/border.h"
#include "plugin/engine/engine_api.h"

namespace harmony {

inline bool accept_mode(Mode) { return true; }
inline void look_nowhere() {}
inline bool leave_to_stock(const JobTest &, StockJobTest, int *) { return false; }
inline void ignore_job(job_record_t *) {}
inline bool start_nothing() { return true; }
inline void stop_nothing() {}
inline void report_nothing(void (*)(void *, const char *, const char *), void *) {}

} // namespace harmony

extern "C" {
extern const harmony::EngineApi harmony_engine;
}
