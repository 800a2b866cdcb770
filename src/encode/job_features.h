// The row of a job: what is the same for all candidates of one decision.
#pragma once

#include "src/encode/encoder.h"
#include "src/infer/model.h"
#include "src/values/snapshot.h"

namespace harmony {

// What waits, of a snapshot.
struct QueuePressure {
  int gangs = 0;
  long gpus = 0;
};
QueuePressure pressure_of(const Snapshot &snapshot);

struct Circumstances {
  QueuePressure queue;
  int nodes_at_least = 1;
  int max_wait_s = 1;
  bool may_wait = true;
};

// Of a worker of the gang; for a PS set job_column::is_ps to 1.
JobRow job_row(const Encoder &encoder, const Gang &gang, const Circumstances &circumstances);

} // namespace harmony
