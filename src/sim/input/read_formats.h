// What the readers of job files share. Used by src/sim/read_*.cpp alone.
#pragma once

#include "src/sim/input/read_jobs.h"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

namespace harmony {

// Jobs of one file as they are read, and what there is to say about it.
class JobRows {
public:
  JobRows(const std::string &path, const ReadJobs &how) : path_(path), how_(how) {}

  // Fills a job from each line that `lines` has; `fill` returns false if the line is no job of ours, after pass_over().
  // Bad lines are skipped if that was asked for.
  template <class Lines, class Fill> void each(Lines &lines, Fill fill) {
    for (bool more = true; more;) {
      try {
        SimJob job;
        more = lines.next();
        if (more && fill(job)) jobs_.push_back(std::move(job));
      } catch (const BadLine &bad) {
        if (!how_.skip_bad) throw;
        if (skipped_++ == 0) first_skipped_ = bad.what();
      }
    }
  }

  // Whether the id is the job's: false if an earlier job has it.
  bool take_id(std::uint32_t id) { return ids_.insert(id).second; }
  // The job's id is found in finish(), behind the largest of the others.
  static void id_later(SimJob &job) { job.id = no_id; }
  // Type and architecture are made up in finish(), when ids are known.
  void type_later() { types_later_ = true; }

  void pass_over(const char *why) { ++passed_over_[why]; } // "no GPUs"
  void ignored(const std::vector<std::string> &columns);
  void note(std::string text) { notes_.push_back(std::move(text)); }

  Workload finish(); // throws BadInput if there is no job

private:
  static constexpr std::uint32_t no_id = 0xffffffff;

  std::string path_;
  ReadJobs how_;
  std::vector<SimJob> jobs_;
  std::unordered_set<std::uint32_t> ids_; // asked, never walked through
  bool types_later_ = false;
  std::map<std::string, std::size_t> passed_over_;
  std::size_t skipped_ = 0;
  std::string first_skipped_;
  std::vector<std::string> notes_;
};

constexpr int most_workers = 65536, most_gpus_per_worker = 256, most_cpus_per_task = 65536;
constexpr double most_seconds = 1e10, most_job_epochs = 1e9;
constexpr std::int64_t most_id = 4'000'000'000; // leaves room behind it for jobs that have none
constexpr int trace_cpus = 2;                   // of a task, where a trace does not tell: assumed

// "2017-10-09 07:01:55" or with a T in between, as seconds; clocks that were put forward or back are not known.
std::optional<double> moment_in(std::string_view text);

// "1-02:03:04", "02:03:04" or "03:04.567", as seconds.
std::optional<double> slurm_duration_in(std::string_view text);

Workload read_own_csv(const std::string &path, const ReadJobs &how);
Workload read_swf(const std::string &path, const ReadJobs &how);
Workload read_sacct(const std::string &path, const ReadJobs &how);
Workload read_philly(const std::string &path, const ReadJobs &how);
Workload read_pollux(const std::string &path, const ReadJobs &how);
Workload read_muri(const std::string &path, const ReadJobs &how);
Workload read_gavel(const std::string &path, const ReadJobs &how);

} // namespace harmony
