// Workloads from files: our own CSV and the formats of published traces and of Slurm's accounting. None of them is
// trusted. For one thread.
//
// Our own CSV has a header; columns may stand in any order, and what is left out, or empty, has a default:
//   job_id           a whole number, each once     counted from 1
//   submit_s         seconds, from any beginning   0
//   type             as --harmony-type             unknown
//   arch             ps or allreduce               ps if the job has PS, else allreduce
//   workers          1 to 65536                    1
//   ps               0 to 1024                     1 if arch is ps, else 0; of allreduce it is taken for 0
//   gpus_per_worker  1 to 256                      1
//   cpus_per_worker  1 to 65536                    1
//   cpus_per_ps      1 to 65536                    cpus_per_worker, which makes the job one component
//   epochs           its work                      as many as it does in duration_s, alone at its best
//   duration_s       counts without epochs         3600
//   time_limit_s     seconds                       by --limit-factor
//   priority         higher goes first             0
//   user             a number                      0
//   gpu              model it asks for             any
//
// The formats of others are described where they are read, in src/sim/read_*.cpp.
#pragma once

#include "src/sim/input/csv.h"
#include "src/sim/input/sim_job.h"

#include <cstdint>
#include <string>
#include <vector>

namespace harmony {

struct ReadJobs {
  std::string format = "auto"; // or one of job_formats(); auto goes by the first line
  bool skip_bad = false;       // bad rows are counted and named in the notes instead of refused
  std::uint64_t seed = 1;      // traces without job types get them at random, the same for the same seed
  int most_jobs = 0;           // the first so many by submit_s; 0: all
};

std::vector<std::string> job_formats(); // in the order of the manual

// Throws BadInput. Jobs are sorted by submit_s, the first of which is 0. A job that is no work for GPUs, or never ran,
// is left out and counted in the notes.
Workload read_jobs(const std::string &path, const ReadJobs &how);

} // namespace harmony
