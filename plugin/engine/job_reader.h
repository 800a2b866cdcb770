// Reading slurmctld's job records: what a job asks for, as a gang, or why it is not planned. Under slurmctld's job,
// node and partition locks (read).
#pragma once

#include "plugin/slurm_version.h"

#include "src/values/gang.h"
#include "src/values/settings.h"

#include <string>

namespace harmony {

// The values of the --harmony-* options that reached slurmctld; whoever wrote them, they are checked anew.
struct JobDescription {
  bool annotated = false;
  std::string type = unknown_type;
  std::uint32_t ps = 0;
  std::uint32_t epochs = 0;
  std::uint32_t model_kb = 0;
  std::string problem; // names the option, its value and what is allowed
};
JobDescription description_of(const job_record_t &job);

// Whether the job is ours to place, by Manage= of harmony.conf.
bool is_managed(const job_record_t &job, Manage manage);

// What the job asks for, without the nodes it may use (see eligible_nodes.h). `left` is why it cannot be planned, in
// words of the job's owner; empty if it can be.
struct ComponentReading {
  Component component;
  std::string left;
};
ComponentReading component_of(const job_record_t &job, const JobDescription &description);

// Whether the job shares its nodes with nobody: --exclusive, or a partition that is so.
bool takes_whole_nodes(const job_record_t &job);

// Whether a pending job waits for nothing but resources: it is not held, nor waiting for other jobs, limits or time.
bool waits_for_resources(const job_record_t &job, std::time_t now);

// Whether the job asks for its resources at once or not at all (salloc --immediate).
bool is_immediate(const job_record_t &job);

// Pending tasks of a job array that may start now; 1 for any other job.
int copies_of(const job_record_t &job);

} // namespace harmony
