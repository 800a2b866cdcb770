// Asks stock to start a job on exactly the planned nodes and cores, and then gives it the planned GPUs. Under
// slurmctld's job and node write locks.
#pragma once

#include "plugin/slurm_version.h"

#include "src/plan/plan_table.h"

#include <string>

namespace harmony {

enum class Carried {
  out,         // stock says yes, on the planned nodes
  not_offered, // Slurm does not offer the plan's nodes or cores to this job now
  refused,     // stock does not start the job there
};

struct CarryResult {
  Carried carried = Carried::not_offered;
  std::string why;           // it is not offered, or refused
  std::string gpus;          // why the GPUs are stock's choice all the same
  std::string tasks;         // how stock spread the tasks in another way
  std::int64_t stock_ns = 0; // spent in stock's own job_test
};

// `call.nodes` is what Slurm offers, and `shared` what it offered to other components of the same hetjob a moment ago:
// backfill takes these away from the later ones. On success `call.nodes` becomes the planned nodes, as stock would
// leave it. Otherwise nothing has changed.
CarryResult carry_out(const JobTest &call, StockJobTest stock, const std::vector<Placement> &placements,
                      const std::vector<int> &shared);

struct Trial {
  bool starts = false;       // stock would start the job now, without preempting anybody
  std::int64_t stock_ns = 0; // spent in stock's own job_test
};
Trial try_stock(const JobTest &call, StockJobTest stock);

} // namespace harmony
