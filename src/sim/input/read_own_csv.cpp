// Our own CSV: see read_jobs.h.
#include "src/sim/input/read_formats.h"
#include "src/values/job_description.h"
#include "src/values/printable.h"
#include "src/values/topology.h"

#include <fmt/format.h>

namespace harmony {
namespace {

void read_architecture(const CsvReader &csv, SimJob &job, bool &ps_dropped) {
  const std::string &arch = csv.text("arch");
  if (!arch.empty() && arch != "ps" && arch != "allreduce")
    csv.refuse(fmt::format("arch is \"{}\", not ps or allreduce", printable(arch)));
  job.ps = static_cast<int>(csv.whole("ps", 0, max_ps, arch == "ps" ? 1 : 0));
  if (arch == "ps" && job.ps == 0) csv.refuse("ps is 0, but arch is ps: that needs 1 at least");
  ps_dropped = arch == "allreduce" && job.ps > 0;
  if (ps_dropped) job.ps = 0;
}

void read_work(const CsvReader &csv, SimJob &job) {
  job.epochs = csv.number("epochs", 0, most_job_epochs, 0);
  job.duration_s = csv.number("duration_s", 0, most_seconds, 0);
  if (job.epochs > 0 || job.duration_s > 0) return;
  if (!csv.text("epochs").empty() || !csv.text("duration_s").empty())
    csv.refuse("the job has no work: neither epochs nor duration_s is above 0");
  job.duration_s = 3600;
}

void read_words(const CsvReader &csv, SimJob &job) {
  if (const std::string &type = csv.text("type"); !type.empty()) {
    if (!is_type(type)) csv.refuse(fmt::format("type is \"{}\", not {}", printable(type), type_allowed));
    job.type = type;
  }
  job.gpu = csv.text("gpu");
  if (!job.gpu.empty() && !is_model_name(job.gpu))
    csv.refuse(fmt::format("gpu is \"{}\", not the name of a GPU model: 1 to {} of a-z, 0-9, '_', '.', '+' and '-'",
                           printable(job.gpu), max_model_length));
}

} // namespace

Workload read_own_csv(const std::string &path, const ReadJobs &how) {
  CsvReader csv(path, {},
                {"job_id", "submit_s", "type", "arch", "workers", "ps", "gpus_per_worker", "cpus_per_worker",
                 "cpus_per_ps", "epochs", "duration_s", "time_limit_s", "priority", "user", "gpu"});
  JobRows rows(path, how);
  std::size_t dropped = 0;
  rows.each(csv, [&](SimJob &job) {
    bool ps_dropped = false;
    job.submit_s = csv.number("submit_s", -most_seconds, most_seconds, 0);
    job.workers = static_cast<int>(csv.whole("workers", 1, most_workers, 1));
    job.gpus_per_worker = static_cast<int>(csv.whole("gpus_per_worker", 1, most_gpus_per_worker, 1));
    job.cpus_per_worker = static_cast<int>(csv.whole("cpus_per_worker", 1, most_cpus_per_task, 1));
    job.cpus_per_ps = static_cast<int>(csv.whole("cpus_per_ps", 1, most_cpus_per_task, job.cpus_per_worker));
    job.time_limit_s = csv.number("time_limit_s", 0, most_seconds, 0);
    job.priority = csv.number("priority", 0, 1e15, 0);
    job.user = static_cast<std::uint32_t>(csv.whole("user", 0, most_id, 0));
    read_architecture(csv, job, ps_dropped);
    read_work(csv, job);
    read_words(csv, job);
    const std::int64_t id = csv.whole("job_id", 0, most_id, -1);
    job.id = static_cast<std::uint32_t>(id);
    if (id < 0)
      JobRows::id_later(job);
    else if (!rows.take_id(job.id))
      csv.refuse(fmt::format("job_id is {}, which an earlier line has already", id));
    dropped += ps_dropped ? 1 : 0;
    return true;
  });
  rows.ignored(csv.ignored());
  if (dropped > 0)
    rows.note(fmt::format("{}: ps is taken for 0 in {} row{} with arch allreduce", shown_path(path), dropped,
                          dropped == 1 ? "" : "s"));
  return rows.finish();
}

} // namespace harmony
