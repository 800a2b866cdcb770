// Fuzzes the reading of jobs in every format: whatever comes in, it is refused with one printable line that names the
// file, or it is a workload of sound jobs in order. Each input is read as what it looks like, and as one other format.

// clang-format off: tests/fuzz/run reads these lines
// links: src/sim/input/read_jobs.cpp src/sim/input/read_own_csv.cpp src/sim/input/read_swf.cpp
// links: src/sim/input/sacct_row.cpp src/sim/input/read_sacct.cpp src/sim/input/read_philly.cpp src/sim/input/read_pollux.cpp
// links: src/sim/input/read_muri.cpp src/sim/input/read_gavel.cpp src/sim/input/trace_time.cpp
// links: src/sim/input/job_mix.cpp src/sim/input/csv.cpp src/sim/input/line_reader.cpp src/values/topology.cpp
// links: src/values/model_name.cpp
// clang-format on
#include "src/sim/input/read_jobs.h"
#include "src/values/job_description.h"
#include "src/values/printable.h"
#include "tests/fuzz/memory_file.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <set>

namespace {

using namespace harmony;

bool is_sound(const SimJob &job) {
  return std::isfinite(job.submit_s) && job.submit_s >= 0 && is_type(job.type) && job.workers >= 1 && job.ps >= 0 &&
         job.ps <= 1024 && job.gpus_per_worker >= 1 && job.gpus() >= 1 && job.cpus_per_worker >= 1 &&
         job.cpus_per_ps >= 1 && std::isfinite(job.epochs) && std::isfinite(job.duration_s) &&
         (job.epochs > 0 || job.duration_s > 0) && std::isfinite(job.time_limit_s) && job.time_limit_s >= 0 &&
         std::isfinite(job.priority) && job.priority >= 0;
}

void check(const Workload &workload) {
  if (workload.jobs.empty() || workload.jobs.front().submit_s != 0) std::abort();
  std::set<std::uint32_t> ids;
  double before = 0;
  for (const SimJob &job : workload.jobs) {
    if (!is_sound(job) || job.submit_s < before || !ids.insert(job.id).second) std::abort();
    before = job.submit_s;
  }
  for (const std::string &note : workload.notes)
    if (!std::all_of(note.begin(), note.end(), is_printable)) std::abort();
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char *data, std::size_t size) {
  const MemoryFile file(data, size);
  const std::vector<std::string> formats = job_formats();
  for (const std::string &format : {std::string("auto"), formats[size % formats.size()]})
    for (const bool skip_bad : {false, true}) {
      ReadJobs how;
      how.format = format;
      how.skip_bad = skip_bad;
      try {
        check(read_jobs(file.path(), how));
      } catch (const BadInput &problem) {
        if (!fit_for_people(problem.what(), file)) std::abort();
      }
    }
  return 0;
}
