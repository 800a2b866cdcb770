#include "src/sim/input/import_sacct.h"

#include "src/record/user_words.h"
#include "src/sim/input/node_list.h"
#include "src/sim/input/read_formats.h"
#include "src/sim/input/sacct_known_runs.h"
#include "src/sim/input/sacct_row.h"
#include "src/sim/input/sacct_timeline.h"
#include "src/values/job_id.h"
#include "src/values/printable.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <map>
#include <optional>
#include <pwd.h>
#include <stdexcept>
#include <sys/stat.h>
#include <tuple>
#include <unistd.h>

namespace harmony {
namespace {

constexpr std::size_t most_nodes = 65536;
constexpr const char *no_type = "unknown";
constexpr double rounding_s = 2;

// sacct writes local time.
double moment(const CsvReader &csv, const char *column) {
  if (const auto seconds = whole_in(csv.text(column), 0, 99'999'999'999)) return static_cast<double>(*seconds);
  const auto as_utc = static_cast<std::time_t>(sacct_moment(csv, column));
  std::tm parts = {};
  gmtime_r(&as_utc, &parts);
  parts.tm_isdst = -1;
  return static_cast<double>(std::mktime(&parts));
}

// CANCELLED of "CANCELLED by 1000".
std::string state_in(const CsvReader &csv) {
  const std::string &text = csv.text("State");
  const std::string state = text.substr(0, text.find(' '));
  if (state.empty() && !csv.has("State")) return "UNKNOWN";
  const bool sound = !state.empty() && state.size() <= 32 &&
                     std::all_of(state.begin(), state.end(), [](char c) { return (c >= 'A' && c <= 'Z') || c == '_'; });
  if (!sound) csv.refuse(fmt::format("State is \"{}\", not a state of Slurm", printable(text)));
  return state;
}

// The runs of a file as they are read.
class Rows {
public:
  explicit Rows(const SacctImport &how)
      : how_(how),
        csv_(how.file, {"JobID", "Start"},
             {"JobIDRaw", "AllocTRES", "ReqTRES", "End", "Elapsed", "ElapsedRaw", "Submit", "State", "ExitCode",
              "Cluster", "User", "UID", "Timelimit", "TimelimitRaw", "SubmitLine", "Comment", "NodeList"},
             '|') {
    if (!csv_.has("AllocTRES") && !csv_.has("ReqTRES"))
      csv_.refuse("the header has neither a column AllocTRES nor ReqTRES: there is no telling which jobs had GPUs");
    if (!csv_.has("End") && !csv_.has("ElapsedRaw") && !csv_.has("Elapsed"))
      csv_.refuse(
          "the header has none of the columns End, ElapsedRaw and Elapsed: there is no telling how long jobs ran");
  }

  // Those that are to be told as gangs, and others that are their neighbours.
  std::vector<SacctRun> read(const KnownRuns &known) {
    for (bool more = true; more;) {
      try {
        more = csv_.next();
        if (more && csv_.text("JobID").find('.') == std::string::npos) row();
      } catch (const BadLine &bad) {
        if (!how_.skip_bad) throw;
        if (skipped_++ == 0) first_skipped_ = bad.what();
      }
    }
    number_runs(known);
    return std::move(runs_);
  }

  std::size_t known() const { return known_; }

  std::vector<std::string> notes() const {
    std::vector<std::string> all;
    if (!csv_.has("NodeList")) all.emplace_back("there is no column NodeList: neighbours and intervals are not known");
    if (!csv_.has("SubmitLine") && !csv_.has("Comment"))
      all.emplace_back("there is neither a column SubmitLine nor Comment: types, PS and epochs of jobs are not known");
    for (const auto &[why, count] : left_out_)
      all.push_back(fmt::format("{} job{} left out: {}", count, count == 1 ? "" : "s", why));
    if (known_ > 0)
      all.push_back(
          fmt::format("{} run{} skipped: in {} already", known_, known_ == 1 ? "" : "s", shown_path(how_.to)));
    if (nameless_ > 0)
      all.push_back(fmt::format(
          "users of {} jobs are left out: there is no column UID, and this host does not know them", nameless_));
    if (skipped_ > 0)
      all.push_back(
          fmt::format("{} row{} skipped, the first at {}", skipped_, skipped_ == 1 ? "" : "s", first_skipped_));
    return all;
  }

private:
  void row() {
    const JobId shown = id();
    if (!is_sacct_moment(csv_.text("Start"))) return (void)++left_out_["never ran"];
    SacctRun run;
    run.start.begin_s = moment(csv_, "Start");
    run.start.submit_s = is_sacct_moment(csv_.text("Submit")) ? moment(csv_, "Submit") : run.start.begin_s;
    if (!read_end(run)) return (void)++left_out_["never ran"];
    const std::string &raw = csv_.text("JobIDRaw");
    if (shown.array_task && raw.empty())
      return (void)++left_out_["tasks of arrays, whose ids only the column JobIDRaw tells"];
    run.start.id.cluster = cluster();
    run.start.id.job = raw.empty() ? shown.job : own_id(raw);
    if (shown.array_task) run.start.array_job = shown.job, run.start.array_task = shown.array_task;
    read_owner(run.start);
    read_gang(run);
    if (!shown.het_component) return runs_.push_back(std::move(run));
    run.start.components = {run.start.id.job};
    run.start.id.job = shown.job;
    join(std::move(run));
  }

  JobId id() const {
    const std::optional<JobId> shown = read_job_id(csv_.text("JobID"));
    if (!shown) csv_.refuse(fmt::format("JobID is \"{}\", not the number of a job", printable(csv_.text("JobID"))));
    return *shown;
  }

  std::uint32_t own_id(const std::string &raw) const {
    const std::optional<JobId> read = read_job_id(raw);
    if (!read) csv_.refuse(fmt::format("JobIDRaw is \"{}\", not the number of a job", printable(raw)));
    return read->job;
  }

  std::string cluster() const {
    const std::string &given = how_.cluster.empty() ? csv_.text("Cluster") : how_.cluster;
    return given.empty() ? "sacct" : one_line(given, 100);
  }

  // False if it never ran.
  bool read_end(SacctRun &run) const {
    EndRecord &end = run.end;
    end.state = state_in(csv_);
    run.has_ended = end.state != "RUNNING" && end.state != "SUSPENDED" && end.state != "COMPLETING" &&
                    (!csv_.has("End") || is_sacct_moment(csv_.text("End")));
    end.begin_s = run.start.begin_s;
    if (!run.has_ended) return true;
    const bool told = !csv_.text("ElapsedRaw").empty() || !csv_.text("Elapsed").empty();
    if (told) end.elapsed_s = sacct_elapsed(csv_);
    end.end_s = is_sacct_moment(csv_.text("End")) ? moment(csv_, "End") : end.begin_s + end.elapsed_s;
    if (end.end_s < end.begin_s) csv_.refuse("End is before Start");
    if (!told) end.elapsed_s = end.end_s - end.begin_s;
    end.disturbed = end.elapsed_s < end.end_s - end.begin_s - rounding_s; // sacct leaves out the time of suspension
    end.exit_code = exit_code();
    return end.end_s > end.begin_s;
  }

  // 1:0 is exit 1, 0:9 is signal 9.
  int exit_code() const {
    const std::string_view text = csv_.text("ExitCode");
    const std::size_t colon = std::min(text.find(':'), text.size());
    const auto signal = whole_in(text.substr(std::min(colon + 1, text.size())), 1, 127);
    if (signal) return 128 + static_cast<int>(*signal);
    return static_cast<int>(whole_in(text.substr(0, colon), 0, 255).value_or(0));
  }

  void read_owner(StartRecord &start) {
    const std::string &name = csv_.text("User");
    if (how_.users == DatasetUsers::none || (name.empty() && csv_.text("UID").empty())) return;
    if (how_.users == DatasetUsers::name && !name.empty()) return (void)(start.user = one_line(name, 100));
    std::optional<uid_t> uid;
    if (!csv_.text("UID").empty()) uid = static_cast<uid_t>(csv_.whole("UID", 0, most_id, 0));
    if (!uid)
      if (const passwd *known = getpwnam(name.c_str())) uid = known->pw_uid;
    if (uid)
      start.user_id = *uid; // its word may need the dataset's directory, which is not made before all is read
    else
      ++nameless_;
  }

  void read_gang(SacctRun &run) const {
    StartRecord &start = run.start;
    const SacctTres allocated = sacct_tres(csv_, "AllocTRES"), asked = sacct_tres(csv_, "ReqTRES");
    const SacctTres &used = allocated.gpus > 0 || allocated.cpus > 0 ? allocated : asked;
    const SacctOptions options = sacct_options(csv_);
    start.type = options.type.empty() ? no_type : options.type;
    start.gpus = start.workers = used.gpus;
    start.ps = static_cast<int>(options.ps.value_or(0));
    start.epochs = options.epochs.value_or(0);
    start.time_limit_min = static_cast<std::uint32_t>(std::min(sacct_time_limit(csv_) / 60, 4e9));
    start.policy = "stock";
    start.why_stock = "imported from sacct";
    run.is_gang = used.gpus > 0;
    const std::string &list = csv_.text("NodeList");
    if (list.empty() || list == "None assigned") return;
    const auto nodes = nodes_of_list(list, most_nodes);
    if (!nodes) csv_.refuse(fmt::format("NodeList is \"{}\", not a list of nodes", printable(list)));
    for (const std::string &node : *nodes) start.placement.emplace_back().node = node;
    if (!run.is_gang) start.workers = static_cast<int>(nodes->size()); // how many tasks it had is not told
    spread(start.workers, start.placement, &TasksAt::workers);
  }

  // Components that began together are one gang; of those without GPUs it is known only that PS may be there.
  void join(SacctRun &&run) {
    const auto [found, is_new] =
        het_.try_emplace({run.start.id.cluster, run.start.id.job, run.start.begin_s}, runs_.size());
    if (is_new) return runs_.push_back(std::move(run));
    SacctRun &gang = runs_[found->second];
    if (gang.is_gang != run.is_gang) without_workers(gang.is_gang ? run.start : gang.start);
    StartRecord &start = gang.start;
    start.components.push_back(run.start.components.front());
    start.workers += run.start.workers;
    start.gpus += run.start.gpus;
    start.ps = std::max(start.ps, run.start.ps);
    start.epochs = std::max(start.epochs, run.start.epochs);
    if (start.type == no_type) start.type = run.start.type;
    gang.is_gang = gang.is_gang || run.is_gang;
    gang.has_ended = gang.has_ended && run.has_ended;
    gang.end.end_s = std::max(gang.end.end_s, run.end.end_s);
    gang.end.elapsed_s = std::max(gang.end.elapsed_s, run.end.elapsed_s);
    gang.end.disturbed = gang.end.disturbed || run.end.disturbed;
    if (gang.end.state == "COMPLETED") gang.end.state = run.end.state;
    start.placement.insert(start.placement.end(), run.start.placement.begin(), run.start.placement.end());
  }

  static void without_workers(StartRecord &start) {
    start.workers = 0;
    for (TasksAt &tasks : start.placement) tasks.workers = 0;
  }

  // sacct lists a job that was requeued once for each time it ran.
  void number_runs(const KnownRuns &known) {
    std::sort(runs_.begin(), runs_.end(), [](const SacctRun &one, const SacctRun &other) {
      return std::tie(one.start.id, one.start.begin_s) < std::tie(other.start.id, other.start.begin_s);
    });
    int next = 0; // number that no run of the job has had here
    for (std::size_t i = 0; i < runs_.size(); ++i) {
      StartRecord &start = runs_[i].start;
      EndRecord &end = runs_[i].end;
      const auto same_job = [&](std::size_t other) {
        return runs_[other].start.id.cluster == start.id.cluster && runs_[other].start.id.job == start.id.job;
      };
      if (i == 0 || !same_job(i - 1)) next = 0;
      start.id.run = next;
      const std::optional<int> number = known.number_of(start.id, start.begin_s);
      start.id.run = number ? *number : known.free_number(start.id);
      next = std::max(next, start.id.run + 1);
      if (runs_[i].is_gang && !runs_[i].has_ended) ++left_out_["not ended yet"];
      if (runs_[i].is_gang && runs_[i].has_ended && number) ++known_;
      if (number || !runs_[i].has_ended) runs_[i].is_gang = false;
      end.id = start.id;
      end.type = start.type;
      end.requeues = start.id.run + (i + 1 < runs_.size() && same_job(i + 1) ? 1 : 0);
      if (end.state == "COMPLETED" && start.epochs > 0) end.epochs = start.epochs;
      if (end.epochs && end.elapsed_s > 0) end.mean_speed = *end.epochs / end.elapsed_s;
      place_ps(start);
    }
  }

  // Evenly: on which node each task ran is not told.
  static void spread(int tasks, std::vector<TasksAt> &over, int TasksAt::*role) {
    const auto nodes = static_cast<int>(over.size());
    for (int i = 0; i < nodes; ++i)
      over[static_cast<std::size_t>(i)].*role = tasks / nodes + (i < tasks % nodes ? 1 : 0);
  }

  // Behind the workers if the gang has nodes without any.
  static void place_ps(StartRecord &start) {
    const auto free = std::stable_partition(start.placement.begin(), start.placement.end(),
                                            [](const TasksAt &tasks) { return tasks.workers > 0; });
    std::vector<TasksAt> others(free, start.placement.end());
    spread(start.ps, others.empty() ? start.placement : others, &TasksAt::ps);
    std::copy(others.begin(), others.end(), free);
  }

  const SacctImport &how_;
  CsvReader csv_;
  std::vector<SacctRun> runs_;
  std::map<std::tuple<std::string, std::uint32_t, double>, std::size_t> het_; // first component's place in runs_
  std::map<std::string, std::size_t> left_out_;
  std::size_t skipped_ = 0, nameless_ = 0, known_ = 0;
  std::string first_skipped_;
};

// A file that is there whole or not at all, readable by its owner and group only.
class NewFile {
public:
  NewFile(const std::string &directory, const std::string &name)
      : path_(directory + "/" + name), unfinished_(fmt::format("{}/.new-{}-{}", directory, getpid(), name)) {
    const int fd = open(unfinished_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0640);
    if (fd < 0) fail();
    file_ = fdopen(fd, "w");
    if (!file_) fail();
  }
  ~NewFile() {
    if (file_) std::fclose(file_);
    if (!done_) unlink(unfinished_.c_str());
  }
  NewFile(const NewFile &) = delete;
  NewFile &operator=(const NewFile &) = delete;

  void write(const std::string &line) {
    if (std::fwrite(line.data(), 1, line.size(), file_) != line.size()) fail();
  }
  void finish() {
    const bool written = std::fflush(file_) == 0 && fsync(fileno(file_)) == 0;
    if (!written || rename(unfinished_.c_str(), path_.c_str()) != 0) fail();
    done_ = true;
  }
  const std::string &path() const { return path_; }

private:
  [[noreturn]] void fail() const {
    throw std::runtime_error(fmt::format("{}: cannot be written: {}", path_, std::strerror(errno)));
  }
  const std::string path_, unfinished_;
  std::FILE *file_ = nullptr;
  bool done_ = false;
};

std::string stamp(double at_s) {
  const auto at = static_cast<std::time_t>(at_s);
  std::tm parts = {};
  char text[32];
  gmtime_r(&at, &parts);
  return std::string(text, std::strftime(text, sizeof text, "%Y%m%dT%H%M%SZ", &parts));
}

// By the moments between which the gangs began. Others that began just then may have been imported before.
std::string name_for(const std::vector<SacctRun> &runs, const std::string &directory) {
  double first = INFINITY, last = -INFINITY;
  for (const SacctRun &run : runs)
    if (run.is_gang) first = std::min(first, run.start.begin_s), last = std::max(last, run.start.begin_s);
  const std::string stem = fmt::format("sacct-{}-{}", stamp(first), stamp(last));
  const auto is_there = [&](const std::string &name) {
    struct stat facts {};
    return lstat(fmt::format("{}/{}", directory, name).c_str(), &facts) == 0 ||
           lstat(fmt::format("{}/{}.gz", directory, name).c_str(), &facts) == 0;
  };
  std::string name = stem + ".jsonl";
  for (int i = 2; is_there(name); ++i) name = fmt::format("{}-{}.jsonl", stem, i);
  return name;
}

void make_directory(const std::string &path) {
  if (mkdir(path.c_str(), 0750) != 0 && errno != EEXIST)
    throw std::runtime_error(fmt::format("{}: cannot be made: {}", path, std::strerror(errno)));
}

} // namespace

SacctImported import_sacct(const SacctImport &how) {
  Rows rows(how);
  std::vector<SacctRun> runs = rows.read(KnownRuns(how.to));
  SacctImported result;
  result.notes = rows.notes();
  const bool has_gang = std::any_of(runs.begin(), runs.end(), [](const SacctRun &run) { return run.is_gang; });
  if (!has_gang && rows.known() > 0) return result;
  if (!has_gang)
    throw std::runtime_error(fmt::format("{}: has no job with GPUs that ran{}{}", shown_path(how.file),
                                         result.notes.empty() ? "" : "; ", fmt::join(result.notes, "; ")));
  make_directory(how.to);
  NewFile file(how.to, name_for(runs, how.to));
  UserWords words;
  for (SacctRun &run : runs)
    if (run.is_gang && run.start.user_id) run.start.user = words.of(*run.start.user_id, how.users, how.to);
  tell_in_order(std::move(runs), [&](const Record &record) {
    result.runs += std::holds_alternative<StartRecord>(record);
    result.intervals += std::holds_alternative<IntervalRecord>(record);
    file.write(to_line(record) + "\n");
  });
  file.finish();
  result.file = file.path();
  return result;
}

} // namespace harmony
