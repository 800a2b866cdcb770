// The Standard Workload Format of the Parallel Workloads Archive, version 2: lines with ';' in front are comments, each
// other one is a job of 18 numbers with blanks between them, -1 for what is not known.
//   1 number  2 submit  3 wait  4 run time  5 processors  6 CPU time  7 memory  8 processors asked  9 time asked
//   10 memory asked  11 status  12 user  13 group  14 executable  15 queue  16 partition  17 before it  18 think time
// A processor is taken for a GPU with a worker of its own: 5, or 8 where 5 is not known. The job's work is what it does
// in 4, its limit is 9, type and architecture are made up (job_mix.h). Jobs that did not run (4 or both 5 and 8 are 0
// or not known) are left out.
#include "src/sim/input/read_formats.h"
#include "src/values/printable.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace harmony {
namespace {

constexpr std::size_t fields = 18;

class SwfReader {
public:
  explicit SwfReader(const std::string &path) : lines_(path) {}

  bool next() {
    while (lines_.next()) {
      const std::string_view text = without_blanks(lines_.text());
      if (text.empty() || text.front() == ';') continue;
      split(text);
      return true;
    }
    return false;
  }

  // The n-th field, from 1; 0 if it is not known.
  double number(std::size_t n, const char *name, double most) const {
    const auto value = number_in(fields_[n - 1], -1, most);
    if (!value)
      lines_.refuse(
          fmt::format("field {} ({}) is \"{}\", not a number from -1 to {}", n, name, printable(fields_[n - 1]), most));
    return *value < 0 ? 0 : *value;
  }
  int whole(std::size_t n, const char *name, int most) const {
    const auto value = whole_in(fields_[n - 1], -1, most);
    if (!value)
      lines_.refuse(fmt::format("field {} ({}) is \"{}\", not a whole number from -1 to {}", n, name,
                                printable(fields_[n - 1]), most));
    return *value < 0 ? 0 : static_cast<int>(*value);
  }

  [[noreturn]] void refuse(const std::string &what) const { lines_.refuse(what); }

private:
  void split(std::string_view text) {
    std::size_t count = 0;
    while (!text.empty()) {
      const std::size_t end = std::min(text.find_first_of(" \t"), text.size());
      if (count < fields) fields_[count] = text.substr(0, end);
      ++count;
      text = without_blanks(text.substr(end));
    }
    if (count != fields) lines_.refuse(fmt::format("the line has {} numbers, not {}", count, fields));
  }

  LineReader lines_;
  std::array<std::string_view, fields> fields_;
};

} // namespace

Workload read_swf(const std::string &path, const ReadJobs &how) {
  SwfReader swf(path);
  JobRows rows(path, how);
  rows.type_later();
  rows.each(swf, [&](SimJob &job) {
    const int id = swf.whole(1, "job number", 2'000'000'000);
    job.submit_s = swf.number(2, "submit time", most_seconds);
    job.duration_s = swf.number(4, "run time", most_seconds);
    const int used = swf.whole(5, "processors", most_workers), asked = swf.whole(8, "processors asked", most_workers);
    job.time_limit_s = swf.number(9, "time asked", most_seconds);
    job.user = static_cast<std::uint32_t>(swf.whole(12, "user", 2'000'000'000));
    job.workers = used > 0 ? used : asked;
    job.cpus_per_worker = job.cpus_per_ps = trace_cpus;
    if (job.workers == 0 || job.duration_s == 0) {
      rows.pass_over("never ran");
      return false;
    }
    job.id = static_cast<std::uint32_t>(id);
    if (!rows.take_id(job.id)) swf.refuse(fmt::format("job number {} is that of an earlier line already", id));
    return true;
  });
  return rows.finish();
}

} // namespace harmony
