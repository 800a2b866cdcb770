// The Philly trace in compact form, as the Pollux artifact has it: timestamp,duration,num_gpus,gpu_time,cluster, in any
// order of time. The work of a job is what it does in `duration` seconds; a GPU is a worker of its own; type and
// architecture are made up (job_mix.h). gpu_time is duration times num_gpus and is not needed; cluster is a virtual
// cluster of Philly's and is not used. Jobs have no number: they are counted from 1 in the order of the file.
#include "src/sim/input/read_formats.h"
#include "src/values/printable.h"

#include <fmt/format.h>

namespace harmony {

Workload read_philly(const std::string &path, const ReadJobs &how) {
  CsvReader csv(path, {"timestamp", "duration", "num_gpus"}, {"gpu_time", "cluster"});
  JobRows rows(path, how);
  rows.type_later();
  rows.each(csv, [&](SimJob &job) {
    const auto submit = moment_in(csv.text("timestamp"));
    if (!submit)
      csv.refuse(
          fmt::format("timestamp is \"{}\", not of the form 2017-10-09 07:01:55", printable(csv.text("timestamp"))));
    job.submit_s = *submit;
    job.duration_s = csv.number("duration", 0, most_seconds, 0);
    job.workers = static_cast<int>(csv.whole("num_gpus", 0, most_workers, 0));
    job.cpus_per_worker = job.cpus_per_ps = trace_cpus;
    JobRows::id_later(job);
    if (job.workers == 0) rows.pass_over("no GPUs");
    if (job.workers > 0 && job.duration_s == 0) rows.pass_over("never ran");
    return job.workers > 0 && job.duration_s > 0;
  });
  rows.ignored(csv.ignored());
  return rows.finish();
}

} // namespace harmony
