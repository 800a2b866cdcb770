// What slurmctld's records say of a job as it begins and as it ends: copied under its locks as little as possible, and
// made sense of by whoever has time.
#pragma once

#include "plugin/engine/raw_jobs.h"

#include <cstdint>
#include <ctime>
#include <memory>
#include <optional>
#include <string>

namespace harmony {

struct JobPlaced {
  std::shared_ptr<const RunningCopy> held;
  std::uint32_t gang = 0, record = 0;
  int records = 1; // of the gang
  int run = 0;
  std::optional<std::uint32_t> array_job, array_task;
  JobDescription description;
  uid_t user = 0;
  int cpus_per_task = 0;
  std::uint32_t time_limit_min = 0;
  std::time_t submitted = 0, started = 0;
  bool ran_before = false; // it was found running, and did not start just now
  std::string claim;
};

struct JobFreed {
  std::uint32_t gang = 0, record = 0;
  std::string state; // Slurm's word; REQUEUED if it will run again
  bool requeued = false;
  int exit_code = 0;
  std::time_t started = 0;
  double suspended_s = 0;
  bool resized = false;
  std::string claim;
};

// Under slurmctld's job lock; the job holds resources, or did until now.
JobPlaced placed_job(const job_record_t &job, const Settings &settings);
JobFreed freed_job(const job_record_t &job);

} // namespace harmony
