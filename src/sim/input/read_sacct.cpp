// Slurm's accounting: `sacct --allocations --parsable2 --format=…`, a header and fields parted by '|'. Needed are
// JobID, Submit, AllocTRES or ReqTRES, and one of ElapsedRaw, Elapsed, or Start with End; used as well are JobIDRaw,
// State, UID, Priority, TimelimitRaw or Timelimit, SubmitLine and Comment. Everything else is ignored.
//
// GPUs are gres/gpu of AllocTRES, else of ReqTRES, a worker each; CPUs are divided evenly among the tasks. A model
// counts if the job asked for it (gres/gpu:MODEL in ReqTRES). Our options are told by SubmitLine, or by a Comment with
// the same words: --harmony-type= and --harmony-ps= (declared epochs are not looked at: the work is how long it
// ran). Without them the type is unknown, and workers exchange by all-reduce. Steps (17.batch) are passed over;
// jobs without GPUs, that never ran or that still run are left out and counted. Components of a hetjob are jobs of
// their own.
#include "src/sim/input/read_formats.h"
#include "src/sim/input/sacct_row.h"
#include "src/values/job_description.h"
#include "src/values/printable.h"

#include <fmt/format.h>

#include <algorithm>

namespace harmony {
namespace {

void read_options(const CsvReader &csv, SimJob &job) {
  const SacctOptions options = sacct_options(csv);
  if (!options.type.empty()) job.type = options.type;
  if (options.ps) job.ps = static_cast<int>(*options.ps);
}

void read_id(const CsvReader &csv, JobRows &rows, SimJob &job) {
  const std::string &raw = csv.text("JobIDRaw"), &shown = csv.text("JobID");
  const auto id = whole_in(raw.empty() ? shown : raw, 0, most_id);
  if (!id && (shown.empty() || !detail::is_digit(shown.front())))
    csv.refuse(fmt::format("JobID is \"{}\", not the number of a job", printable(shown)));
  job.id = static_cast<std::uint32_t>(id.value_or(0));
  // Array tasks without JobIDRaw, and requeued jobs, which sacct lists once for each time they ran.
  if (!id || !rows.take_id(job.id)) JobRows::id_later(job);
}

bool read_job(const CsvReader &csv, JobRows &rows, SimJob &job) {
  if (csv.text("JobID").find('.') != std::string::npos) return false;
  const SacctTres allocated = sacct_tres(csv, "AllocTRES"), asked = sacct_tres(csv, "ReqTRES");
  const SacctTres &used = allocated.gpus > 0 ? allocated : asked;
  job.submit_s = sacct_moment(csv, "Submit");
  job.duration_s = sacct_elapsed(csv);
  job.time_limit_s = sacct_time_limit(csv);
  job.priority = csv.number("Priority", 0, 1e15, 0);
  job.user = static_cast<std::uint32_t>(csv.whole("UID", 0, most_id, 0));
  job.workers = used.gpus;
  const std::string &state = csv.text("State");
  const bool runs = state == "RUNNING" || state == "SUSPENDED" || state == "COMPLETING";
  const bool never_ran = !runs && job.duration_s == 0;
  if (runs) rows.pass_over("still running");
  if (never_ran) rows.pass_over("never ran");
  if (!runs && !never_ran && used.gpus == 0) rows.pass_over("no GPUs");
  if (used.gpus == 0 || runs || never_ran) return false;
  job.gpu = asked.gpu;
  read_options(csv, job);
  job.cpus_per_worker = job.cpus_per_ps = std::max(1, used.cpus / (job.workers + job.ps));
  read_id(csv, rows, job);
  return true;
}

} // namespace

Workload read_sacct(const std::string &path, const ReadJobs &how) {
  CsvReader csv(path, {"JobID", "Submit"},
                {"JobIDRaw", "AllocTRES", "ReqTRES", "Start", "End", "Elapsed", "ElapsedRaw", "Timelimit",
                 "TimelimitRaw", "Priority", "UID", "State", "Comment", "SubmitLine"},
                '|');
  if (!csv.has("AllocTRES") && !csv.has("ReqTRES"))
    csv.refuse("the header has neither a column AllocTRES nor ReqTRES: there is no telling which jobs had GPUs");
  if (!csv.has("ElapsedRaw") && !csv.has("Elapsed") && !(csv.has("Start") && csv.has("End")))
    csv.refuse("the header has neither a column ElapsedRaw nor Elapsed, nor both Start and End");
  JobRows rows(path, how);
  rows.each(csv, [&](SimJob &job) { return read_job(csv, rows, job); });
  rows.ignored(csv.ignored());
  return rows.finish();
}

} // namespace harmony
