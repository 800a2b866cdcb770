// The plans of the last round, by job: what job_test looks up. A round makes a new table and publishes it whole; only
// the marks of what was used change afterwards, by whoever holds slurmctld's job write lock; a round reads them
// without.
#pragma once

#include "src/values/plan.h"

#include <atomic>
#include <cstdint>
#include <ctime>
#include <unordered_map>
#include <vector>

namespace harmony {

// What was decided for one job record: a one-job gang, or a component of a hetjob.
struct PlannedJob {
  Verdict verdict = Verdict::left_to_stock;
  std::time_t wait_until = 0;
  int records = 1;                            // of the gang; above 1 it is a hetjob
  std::vector<std::vector<Placement>> copies; // placements of this record; several for tasks of a job array
  std::atomic<std::size_t> used{0};           // copies that started
  std::atomic<bool> dropped{false};           // turned out stale

  bool hetjob() const { return records > 1; }
  const std::vector<Placement> *next() const {
    return verdict == Verdict::place && !dropped && used < copies.size() ? &copies[used] : nullptr;
  }
};

struct PlanTable {
  std::uint64_t round = 0;
  std::time_t taken = 0;
  std::uint64_t epoch = 0;  // of the snapshot
  std::uint64_t starts = 0; // jobs that had started until the snapshot
  Bits usable;              // nodes, in the snapshot
  std::unordered_map<std::uint32_t, PlannedJob> jobs;

  PlannedJob *find(std::uint32_t job) {
    const auto found = jobs.find(job);
    return found == jobs.end() ? nullptr : &found->second;
  }
};

// The table of a round's decisions. `components` names the job records of each gang with more than one.
PlanTable make_plan_table(const std::vector<Decision> &decisions,
                          const std::unordered_map<std::uint32_t, std::vector<std::uint32_t>> &components);

// "n1=2+1,n2=1+0": workers and PS a node, as `harmony run` reads it from HARMONY_PLAN.
std::string plan_text(const std::vector<Placement> &placements);

} // namespace harmony
