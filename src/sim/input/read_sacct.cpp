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
#include "src/values/job_description.h"
#include "src/values/model_name.h"
#include "src/values/printable.h"
#include "src/values/topology.h"

#include <fmt/format.h>

#include <algorithm>

namespace harmony {
namespace {

struct Tres {
  int gpus = 0, cpus = 0;
  std::string gpu; // the model, if there is one only
};

// "billing=8,cpu=8,gres/gpu:a100=2,gres/gpu=2,mem=16G,node=1"; what is not about GPUs and CPUs may be anything.
Tres tres_in(const CsvReader &csv, const char *column) {
  Tres tres;
  int typed = 0;
  std::string_view rest = csv.text(column);
  while (!rest.empty()) {
    const std::string_view entry = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(entry.size() + 1, rest.size()));
    const std::size_t equals = std::min(entry.find('='), entry.size());
    const std::string_view name = entry.substr(0, equals);
    const bool of_model = name.substr(0, 9) == "gres/gpu:";
    if (name != "cpu" && name != "gres/gpu" && !of_model) continue;
    const auto count = whole_in(entry.substr(std::min(equals + 1, entry.size())), 0, most_workers);
    if (!count)
      csv.refuse(fmt::format("{} has \"{}\", not a whole number from 0 to {}", column, printable(entry), most_workers));
    if (name == "cpu") tres.cpus = static_cast<int>(*count);
    if (name == "gres/gpu") tres.gpus = static_cast<int>(*count);
    if (!of_model) continue;
    tres.gpu = typed == 0 ? clean_model(name.substr(9)) : "";
    typed += static_cast<int>(*count);
    if (typed > most_workers) csv.refuse(fmt::format("{} has more than {} GPUs", column, most_workers));
  }
  if (tres.gpus == 0) tres.gpus = typed;
  return tres;
}

// What stands behind the last "NAME=" of the text, as far as the next blank; getopt takes the last too.
std::string_view option_in(std::string_view text, std::string_view name) {
  const std::size_t at = text.rfind(name);
  if (at == std::string_view::npos || at + name.size() >= text.size()) return {};
  if (text[at + name.size()] != '=' && text[at + name.size()] != ' ') return {}; // sbatch takes both
  text.remove_prefix(at + name.size() + 1);
  return text.substr(0, text.find_first_of(" \t,;'\""));
}

// As sacct shows any word: a job's owner may have written what is none of our options.
void read_options(const CsvReader &csv, SimJob &job) {
  for (const char *column : {"Comment", "SubmitLine"}) {
    const std::string_view type = option_in(csv.text(column), "harmony-type");
    if (is_type(type)) job.type = type;
    std::uint32_t ps = 0;
    if (read_ps(option_in(csv.text(column), "harmony-ps"), ps)) job.ps = static_cast<int>(ps);
  }
}

bool is_moment(const std::string &text) { return !text.empty() && text != "Unknown" && text != "None"; }

double moment(const CsvReader &csv, const char *column) {
  const auto value = moment_in(csv.text(column));
  if (!value)
    csv.refuse(fmt::format("{} is \"{}\", not of the form 2026-11-16T07:26:11", column, printable(csv.text(column))));
  return *value;
}

double elapsed(const CsvReader &csv) {
  if (!csv.text("ElapsedRaw").empty()) return csv.number("ElapsedRaw", 0, most_seconds, 0);
  if (const std::string &text = csv.text("Elapsed"); !text.empty()) {
    const auto value = slurm_duration_in(text);
    if (!value)
      csv.refuse(fmt::format("Elapsed is \"{}\", not of the form [days-]hours:minutes:seconds", printable(text)));
    return *value;
  }
  if (!is_moment(csv.text("Start")) || !is_moment(csv.text("End"))) return 0;
  const double seconds = moment(csv, "End") - moment(csv, "Start");
  if (seconds < 0) csv.refuse("End is before Start");
  return seconds;
}

double time_limit(const CsvReader &csv) {
  const auto is_word = [](const std::string &text) { // UNLIMITED, Partition_Limit
    return text.empty() || !detail::is_digit(text.front());
  };
  if (const std::string &minutes = csv.text("TimelimitRaw"); !is_word(minutes))
    return 60 * csv.number("TimelimitRaw", 0, most_seconds / 60, 0);
  const std::string &text = csv.text("Timelimit");
  if (is_word(text)) return 0;
  const auto value = slurm_duration_in(text);
  if (!value)
    csv.refuse(fmt::format("Timelimit is \"{}\", not of the form [days-]hours:minutes:seconds", printable(text)));
  return *value;
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
  const Tres allocated = tres_in(csv, "AllocTRES"), asked = tres_in(csv, "ReqTRES");
  const Tres &used = allocated.gpus > 0 ? allocated : asked;
  job.submit_s = moment(csv, "Submit");
  job.duration_s = elapsed(csv);
  job.time_limit_s = time_limit(csv);
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
