// The row of a job: what is the same for all candidates of one decision.
#pragma once

#include "src/encode/encoder.h"
#include "src/infer/model.h"
#include "src/values/snapshot.h"

#include <cstdint>
#include <utility>
#include <vector>

namespace harmony {

// What waits, of a snapshot.
struct QueuePressure {
  int gangs = 0;
  long gpus = 0;
};
QueuePressure pressure_of(const Snapshot &snapshot);

// What of it asks for less time than some gang does. For any thread.
class QueueByLimit {
public:
  explicit QueueByLimit(const Snapshot &snapshot);
  QueuePressure shorter_than(std::uint32_t time_limit_min) const;
  // Gangs with a shorter limit that fit into `free` GPUs, shortest first, but not when `taken` of them are gone; each
  // counts by how much shorter it is.
  double displaced(std::uint32_t time_limit_min, long free, long taken) const;

private:
  struct Upto { // a limit, and what has that limit or a shorter one
    std::uint32_t limit_min = 0;
    QueuePressure queue;
    double limits = 0; // their sum
  };
  std::vector<Upto>::const_iterator first_not_shorter(std::uint32_t time_limit_min) const;

  std::vector<Upto> upto_; // by limit
};

struct Circumstances {
  QueuePressure queue;
  QueuePressure shorter; // of those that wait, with a shorter time limit
  double displaced = 0;  // of those, see QueueByLimit
  double usual_s = 1;    // how long the gang usually takes
  double next_end_s = 0, opening_s = 0;
  int nodes_at_least = 1;
  int max_wait_s = 1;
  bool may_wait = true;
};

// Of a worker of the gang; for a PS set job_column::is_ps to 1.
JobRow job_row(const Encoder &encoder, const Gang &gang, const Circumstances &circumstances);

} // namespace harmony
