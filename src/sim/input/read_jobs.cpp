#include "src/sim/input/read_jobs.h"

#include "src/sim/input/job_mix.h"
#include "src/sim/input/read_formats.h"
#include "src/values/printable.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

namespace harmony {
namespace {

struct Format {
  const char *name;
  Workload (*read)(const std::string &path, const ReadJobs &how);
  std::vector<std::string> header; // columns that no other format has together; empty: it has no header
  char separator = ',';
};

const std::vector<Format> &formats() {
  static const std::vector<Format> known = {
      {"csv", read_own_csv, {}},
      {"swf", read_swf, {}},
      {"sacct", read_sacct, {"JobID", "Submit"}, '|'},
      {"philly", read_philly, {"timestamp", "duration", "num_gpus"}},
      {"pollux", read_pollux, {"time", "application", "num_replicas"}},
      {"muri", read_muri, {"num_gpu", "submit_time", "model_name"}},
      {"gavel", read_gavel, {}, '\t'},
  };
  return known;
}

std::vector<std::string> split(const std::string &line, char separator) {
  std::vector<std::string> fields(1);
  for (const char c : line)
    if (c == separator)
      fields.emplace_back();
    else
      fields.back() += c;
  for (std::string &field : fields) field = without_blanks(field);
  return fields;
}

bool has_all(const std::vector<std::string> &fields, const std::vector<std::string> &wanted) {
  return std::all_of(wanted.begin(), wanted.end(), [&](const std::string &name) {
    return std::find(fields.begin(), fields.end(), name) != fields.end();
  });
}

// Lines of the Standard Workload Format begin with ';', or with the number of the job and a blank.
bool looks_like_swf(std::string_view line) {
  line = without_blanks(line);
  return line.front() == ';' || whole_in(line.substr(0, line.find_first_of(" \t")), 0, most_id);
}

bool looks_like_our_own(const std::vector<std::string> &fields) {
  static const std::vector<std::string> ours = {"job_id",  "submit_s", "type",      "arch",
                                                "workers", "epochs",   "duration_s"};
  return std::any_of(fields.begin(), fields.end(), [&](const std::string &name) { return has_all(ours, {name}); });
}

std::string format_of(const std::string &path) {
  LineReader lines(path);
  do {
    if (!lines.next()) throw BadInput(shown_path(path) + ": has no jobs: the file is empty");
  } while (without_blanks(lines.text()).empty());
  for (const Format &format : formats())
    if (!format.header.empty() && has_all(split(lines.text(), format.separator), format.header)) return format.name;
  const std::size_t tabs = split(lines.text(), '\t').size();
  if (tabs == 7 || tabs == 10) return "gavel";
  if (looks_like_our_own(split(lines.text(), ','))) return "csv";
  if (looks_like_swf(lines.text())) return "swf";
  throw BadInput(fmt::format("{}:{}: this line does not tell the format of the jobs; name it: {}", shown_path(path),
                             lines.number(), fmt::join(job_formats(), ", ")));
}

bool earlier(const SimJob &one, const SimJob &other) {
  return one.submit_s != other.submit_s ? one.submit_s < other.submit_s : one.id < other.id;
}

} // namespace

std::vector<std::string> job_formats() {
  std::vector<std::string> names;
  for (const Format &format : formats()) names.emplace_back(format.name);
  return names;
}

Workload read_jobs(const std::string &path, const ReadJobs &how) {
  const std::string name = how.format == "auto" ? format_of(path) : how.format;
  for (const Format &format : formats())
    if (name == format.name) return format.read(path, how);
  throw BadInput(fmt::format("{}: \"{}\" is no format of jobs; they are auto, {}", shown_path(path), printable(name),
                             fmt::join(job_formats(), ", ")));
}

void JobRows::ignored(const std::vector<std::string> &columns) {
  constexpr std::size_t most = 20; // each is a name that somebody else chose
  if (columns.empty()) return;
  const std::vector<std::string> shown(columns.begin(),
                                       columns.begin() + static_cast<std::ptrdiff_t>(std::min(most, columns.size())));
  const std::string more = columns.size() > most ? fmt::format(" and {} more", columns.size() - most) : "";
  note(fmt::format("{}: ignored what is not known: {}{}", shown_path(path_), fmt::join(shown, ", "), more));
}

Workload JobRows::finish() {
  std::uint32_t next = 1;
  for (const SimJob &job : jobs_)
    if (job.id != no_id) next = std::max(next, job.id + 1);
  for (SimJob &job : jobs_)
    if (job.id == no_id) job.id = next++;
  if (types_later_)
    for (SimJob &job : jobs_) make_up(job, how_.seed);

  for (const auto &[why, count] : passed_over_)
    note(fmt::format("{}: {} job{} left out: {}", shown_path(path_), count, count == 1 ? "" : "s", why));
  if (skipped_ > 0)
    note(fmt::format("{} row{} skipped, the first at {}", skipped_, skipped_ == 1 ? "" : "s", first_skipped_));
  if (jobs_.empty())
    throw BadInput(
        fmt::format("{}: has no jobs{}{}", shown_path(path_), notes_.empty() ? "" : "; ", fmt::join(notes_, "; ")));

  std::sort(jobs_.begin(), jobs_.end(), earlier);
  if (how_.most_jobs > 0 && jobs_.size() > static_cast<std::size_t>(how_.most_jobs))
    jobs_.resize(static_cast<std::size_t>(how_.most_jobs));
  const double begin = jobs_.front().submit_s;
  for (SimJob &job : jobs_) job.submit_s -= begin;
  return {std::filesystem::path(path_).filename().string(), std::move(jobs_), std::move(notes_)};
}

} // namespace harmony
