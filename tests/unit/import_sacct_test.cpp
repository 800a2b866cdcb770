#include "src/sim/input/import_sacct.h"

#include "src/record/dataset_check.h"
#include "src/sim/input/node_list.h"
#include "tests/unit/dataset_fixture.h"

#include <cstdlib>
#include <ctime>
#include <fmt/format.h>
#include <optional>
#include <sys/stat.h>

namespace harmony {

using namespace fixtures;

class ImportSacctTest : public CppUnit::TestFixture {
  CPPUNIT_TEST_SUITE(ImportSacctTest);
  CPPUNIT_TEST(a_job_is_a_start_an_interval_and_an_end);
  CPPUNIT_TEST(neighbours_come_and_go);
  CPPUNIT_TEST(what_happens_at_one_moment_makes_no_empty_interval);
  CPPUNIT_TEST(jobs_without_gpus_are_neighbours_and_no_gangs);
  CPPUNIT_TEST(a_requeued_job_has_several_runs);
  CPPUNIT_TEST(tasks_of_arrays_and_components_of_hetjobs_are_told_apart);
  CPPUNIT_TEST(a_job_that_has_not_ended_is_a_neighbour_only);
  CPPUNIT_TEST(a_signal_is_told_as_shells_tell_it);
  CPPUNIT_TEST(a_run_that_was_suspended_is_disturbed);
  CPPUNIT_TEST(without_node_lists_there_are_no_intervals_and_that_is_said);
  CPPUNIT_TEST(users_are_hashed_named_or_left_out);
  CPPUNIT_TEST(times_are_local_or_seconds);
  CPPUNIT_TEST(the_same_runs_are_not_imported_twice);
  CPPUNIT_TEST(what_has_come_since_is_added);
  CPPUNIT_TEST(a_dataset_that_cannot_be_read_is_not_added_to);
  CPPUNIT_TEST(a_refused_import_leaves_nothing_behind);
  CPPUNIT_TEST(what_is_no_output_of_sacct_is_refused);
  CPPUNIT_TEST(bad_rows_can_be_skipped);
  CPPUNIT_TEST(node_lists_are_expanded);
  CPPUNIT_TEST(node_lists_are_bounded);
  CPPUNIT_TEST_SUITE_END();

public:
  void setUp() override {
    if (const char *zone = std::getenv("TZ")) zone_ = zone;
    setenv("TZ", "UTC", 1);
    tzset();
  }
  void tearDown() override {
    if (zone_)
      setenv("TZ", zone_->c_str(), 1);
    else
      unsetenv("TZ");
    tzset();
  }

private:
  std::optional<std::string> zone_;

  static constexpr const char *header = "JobID|JobIDRaw|Submit|Start|End|State|AllocTRES|NodeList|UID|SubmitLine\n";

  // A job of the 1st of November 2026, between two times of the day.
  static std::string row(const std::string &id, const std::string &raw, const std::string &from, const std::string &to,
                         const std::string &nodes, int gpus, const std::string &line = "sbatch a.sh",
                         const std::string &state = "COMPLETED") {
    return fmt::format("{}|{}|2026-11-01T09:00:00|2026-11-01T{}|{}|{}|cpu=8{}|{}|0|{}\n", id, raw, from,
                       to == "Unknown" ? to : "2026-11-01T" + to, state,
                       gpus > 0 ? fmt::format(",gres/gpu={}", gpus) : "", nodes, line);
  }

  struct Read {
    std::vector<StartRecord> starts;
    std::vector<IntervalRecord> intervals;
    std::vector<EndRecord> ends;
    std::vector<std::string> notes;
  };
  static Read import(const std::string &text, SacctImport how = {}) {
    const Files files;
    how.file = files.write("s.txt", text);
    how.to = files.path() + "/dataset";
    if (how.users == DatasetUsers::hash) how.users = DatasetUsers::none;
    Read read;
    read.notes = import_sacct(how).notes;
    const DatasetReading reading = read_dataset(how.to, [&](const Record &record) {
      if (const auto *start = std::get_if<StartRecord>(&record)) read.starts.push_back(*start);
      if (const auto *interval = std::get_if<IntervalRecord>(&record)) read.intervals.push_back(*interval);
      if (const auto *end = std::get_if<EndRecord>(&record)) read.ends.push_back(*end);
    });
    CPPUNIT_ASSERT_EQUAL(std::uint64_t{0}, reading.faulty + reading.torn);
    return read;
  }
  static std::string refused(const std::string &text) {
    const Files files;
    const std::string file = files.write("s.txt", text);
    return thrown(
        [&] {
          import_sacct({file, files.path() + "/dataset", "", DatasetUsers::none, false});
        },
        files.path());
  }

  void a_job_is_a_start_an_interval_and_an_end() {
    const Read read = import(header + row("17", "17", "10:00:00", "11:00:00", "n[1-2]", 4,
                                          "sbatch --harmony-type=vgg16 --harmony-ps=1 --harmony-epochs=90 a.sh"));
    CPPUNIT_ASSERT_EQUAL(std::size_t{1}, read.starts.size());
    const StartRecord &start = read.starts[0];
    CPPUNIT_ASSERT_EQUAL(std::string("sacct"), start.id.cluster);
    CPPUNIT_ASSERT_EQUAL(std::string("vgg16"), start.type);
    CPPUNIT_ASSERT(start.workers == 4 && start.ps == 1 && start.gpus == 4 && start.epochs == 90 && !start.by_plan);
    CPPUNIT_ASSERT_EQUAL(3600.0, start.begin_s - start.submit_s);
    CPPUNIT_ASSERT(start.placement.size() == 2 && start.placement[1].node == "n2" && start.placement[1].workers == 2);
    CPPUNIT_ASSERT_EQUAL(std::size_t{1}, read.intervals.size());
    CPPUNIT_ASSERT_EQUAL(0.5, read.intervals[0].terms.across_nodes);
    CPPUNIT_ASSERT_EQUAL(std::size_t{1}, read.ends.size());
    CPPUNIT_ASSERT_EQUAL(90.0, read.ends[0].epochs.value());
    CPPUNIT_ASSERT_EQUAL(0.025, read.ends[0].mean_speed.value());
    CPPUNIT_ASSERT(read.notes.empty());
  }

  void neighbours_come_and_go() {
    const Read read = import(header + row("1", "1", "10:00:00", "11:00:00", "n[1-2]", 2) +
                             row("2", "2", "10:20:00", "10:40:00", "n2", 2, "sbatch --harmony-type=bert a.sh") +
                             row("3", "3", "10:00:00", "11:00:00", "n3", 2));
    std::vector<std::string> of_first;
    for (const IntervalRecord &interval : read.intervals)
      if (interval.id.job == 1)
        of_first.push_back(fmt::format("{:.0f} {}", interval.end_s - interval.begin_s,
                                       interval.neighbours.empty() ? "" : interval.neighbours[0].type));
    CPPUNIT_ASSERT(of_first == (std::vector<std::string>{"1200 ", "1200 bert", "1200 "}));
    CPPUNIT_ASSERT_EQUAL(std::size_t{5}, read.intervals.size());
    const Neighbour &met = read.starts[2].neighbours.at(0); // by the second job, as it began
    CPPUNIT_ASSERT(met.job == 1 && met.nodes == 2 && met.on.size() == 1 && met.on[0].node == "n2");
  }

  void what_happens_at_one_moment_makes_no_empty_interval() {
    const Read read =
        import(header + row("1", "1", "10:00:00", "11:00:00", "n1", 2) +
               row("2", "2", "10:00:00", "11:00:00", "n1", 2) + row("3", "3", "11:00:00", "12:00:00", "n1", 2));
    CPPUNIT_ASSERT_EQUAL(std::size_t{3}, read.intervals.size());
    CPPUNIT_ASSERT_EQUAL(std::size_t{1}, read.starts[0].neighbours.size());
    CPPUNIT_ASSERT(read.starts[2].neighbours.empty()); // those before had gone
  }

  void jobs_without_gpus_are_neighbours_and_no_gangs() {
    const Read read = import(header + row("1", "1", "10:00:00", "11:00:00", "n1", 2) +
                             row("2", "2", "10:30:00", "12:00:00", "n1", 0));
    CPPUNIT_ASSERT_EQUAL(std::size_t{1}, read.starts.size());
    CPPUNIT_ASSERT_EQUAL(std::size_t{2}, read.intervals.size());
    CPPUNIT_ASSERT_EQUAL(std::uint32_t{2}, read.intervals[1].neighbours.at(0).job);
  }

  void a_requeued_job_has_several_runs() {
    const Read read = import(header + row("1", "1", "11:00:00", "12:00:00", "n1", 2) +
                             row("1", "1", "10:00:00", "10:30:00", "n1", 2, "sbatch a.sh", "PREEMPTED"));
    CPPUNIT_ASSERT_EQUAL(std::size_t{2}, read.ends.size());
    CPPUNIT_ASSERT(read.ends[0].id.run == 0 && read.ends[0].state == "PREEMPTED" && read.ends[0].requeues == 1);
    CPPUNIT_ASSERT(read.ends[1].id.run == 1 && read.ends[1].state == "COMPLETED" && read.ends[1].requeues == 1);
  }

  void tasks_of_arrays_and_components_of_hetjobs_are_told_apart() {
    const Read read = import(header + row("18_3", "21", "10:00:00", "11:00:00", "n1", 2) +
                             row("30+0", "30", "12:00:00", "13:00:00", "n1", 2, "sbatch --harmony-ps=2 a.sh") +
                             row("30+1", "31", "12:00:00", "13:00:00", "n2", 0, "sbatch --harmony-ps=2 a.sh"));
    CPPUNIT_ASSERT_EQUAL(std::size_t{2}, read.starts.size());
    CPPUNIT_ASSERT(read.starts[0].id.job == 21 && read.starts[0].array_job == 18u && read.starts[0].array_task == 3u);
    const StartRecord &het = read.starts[1];
    CPPUNIT_ASSERT(het.id.job == 30 && het.components == (std::vector<std::uint32_t>{30, 31}));
    CPPUNIT_ASSERT(het.workers == 2 && het.ps == 2 && het.placement.size() == 2);
    CPPUNIT_ASSERT(het.placement[0].workers == 2 && het.placement[0].ps == 0);
    CPPUNIT_ASSERT(het.placement[1].workers == 0 && het.placement[1].ps == 2);
  }

  void a_job_that_has_not_ended_is_a_neighbour_only() {
    const Read read = import(header + row("1", "1", "10:00:00", "Unknown", "n1", 2, "sbatch a.sh", "RUNNING") +
                             row("2", "2", "11:00:00", "12:00:00", "n1", 2));
    CPPUNIT_ASSERT(read.starts.size() == 1 && read.ends.size() == 1 && read.starts[0].id.job == 2);
    CPPUNIT_ASSERT_EQUAL(std::uint32_t{1}, read.starts[0].neighbours.at(0).job);
    CPPUNIT_ASSERT(read.notes == std::vector<std::string>{"1 job left out: not ended yet"});
    const Read stateless =
        import("JobID|Start|End|ElapsedRaw|ReqTRES|Comment|NodeList\n"
               "1|1793520000|Unknown|60|gres/gpu=2||n1\n2|1793520000|1793520060|60|gres/gpu=2||n1\n");
    CPPUNIT_ASSERT_EQUAL(std::size_t{1}, stateless.starts.size());
  }

  void a_signal_is_told_as_shells_tell_it() {
    const auto code = [](const std::string &text) {
      return import("JobID|Start|ElapsedRaw|ReqTRES|ExitCode\n1|1793520000|60|gres/gpu=2|" + text + "\n")
          .ends.at(0)
          .exit_code;
    };
    CPPUNIT_ASSERT_EQUAL(137, code("0:9"));
    CPPUNIT_ASSERT_EQUAL(143, code("1:15"));
    CPPUNIT_ASSERT_EQUAL(3, code("3:0"));
    CPPUNIT_ASSERT_EQUAL(0, code("0:0"));
    for (const char *odd : {"", ":", "x:y", "0:999", "300:0", "0:-9"}) CPPUNIT_ASSERT_EQUAL(0, code(odd));
  }

  void a_run_that_was_suspended_is_disturbed() {
    const Read read = import("JobID|Start|End|ElapsedRaw|ReqTRES\n1|1793520000|1793520600|600|gres/gpu=2\n"
                             "2|1793520000|1793520600|300|gres/gpu=2\n");
    CPPUNIT_ASSERT(!read.ends.at(0).disturbed && read.ends.at(1).disturbed);
  }

  void without_node_lists_there_are_no_intervals_and_that_is_said() {
    const Read read = import("JobID|Start|ElapsedRaw|ReqTRES\n17|2026-11-01T10:00:00|60|gres/gpu=2\n"
                             "18_1|2026-11-01T10:00:00|60|gres/gpu=2\n19|Unknown|0|gres/gpu=2\n");
    CPPUNIT_ASSERT(read.starts.size() == 1 && read.intervals.empty() && read.ends.size() == 1);
    CPPUNIT_ASSERT_EQUAL(60.0, read.ends[0].elapsed_s);
    CPPUNIT_ASSERT_EQUAL(std::size_t{4}, read.notes.size());
    CPPUNIT_ASSERT_EQUAL(std::string("there is no column NodeList: neighbours and intervals are not known"),
                         read.notes[0]);
  }

  void users_are_hashed_named_or_left_out() {
    const std::string text = header + row("1", "1", "10:00:00", "11:00:00", "n1", 2);
    const auto user = [&](DatasetUsers users) {
      const Files files;
      const std::string to = files.path() + "/dataset";
      import_sacct({files.write("s.txt", text), to, "", users, false});
      std::string found;
      read_dataset(to, [&](const Record &record) {
        if (const auto *start = std::get_if<StartRecord>(&record)) found = start->user;
      });
      return found;
    };
    CPPUNIT_ASSERT_EQUAL(std::string(), user(DatasetUsers::none));
    CPPUNIT_ASSERT_EQUAL(std::string("root"), user(DatasetUsers::name));
    const std::string word = user(DatasetUsers::hash);
    CPPUNIT_ASSERT(word.size() >= 16 && word.find("root") == std::string::npos);
    CPPUNIT_ASSERT(word != user(DatasetUsers::hash)); // of another dataset
  }

  void times_are_local_or_seconds() {
    setenv("TZ", "UTC-2", 1); // two hours east
    tzset();
    const Read local = import(header + row("1", "1", "10:00:00", "11:00:00", "n1", 2));
    CPPUNIT_ASSERT_EQUAL(1793520000.0, local.starts[0].begin_s); // 2026-11-01 08:00:00 UTC
    const Read seconds = import("JobID|Start|End|ReqTRES|Comment|NodeList\n17|1793520000|1793520060|gres/gpu=2||n1\n");
    CPPUNIT_ASSERT_EQUAL(1793520000.0, seconds.starts[0].begin_s);
    CPPUNIT_ASSERT_EQUAL(60.0, seconds.ends[0].elapsed_s);
  }

  void the_same_runs_are_not_imported_twice() {
    const Files files;
    SacctImport how;
    how.file = files.write("s.txt", header + row("1", "1", "10:00:00", "11:00:00", "n1", 2));
    how.to = files.path() + "/dataset";
    const std::string written = import_sacct(how).file;
    CPPUNIT_ASSERT_EQUAL(how.to + "/sacct-20261101T100000Z-20261101T100000Z.jsonl", written);
    struct stat facts {};
    CPPUNIT_ASSERT_EQUAL(0, stat(written.c_str(), &facts));
    CPPUNIT_ASSERT_EQUAL(0, static_cast<int>(facts.st_mode & 0137)); // readable by owner and group at most
    const SacctImported again = import_sacct(how);
    CPPUNIT_ASSERT(again.file.empty() && again.runs == 0);
    CPPUNIT_ASSERT(again.notes == std::vector<std::string>{"1 run skipped: in " + how.to + " already"});
  }

  // All runs of a dataset, each as JOB.RUN, after these texts were imported one after the other.
  static std::string runs_of(const std::vector<std::string> &texts) {
    const Files files;
    SacctImport how;
    how.users = DatasetUsers::none;
    how.to = files.path() + "/dataset";
    for (const std::string &text : texts) {
      how.file = files.write("s.txt", text);
      import_sacct(how);
    }
    std::string runs;
    std::vector<std::string> faults;
    DatasetChecker checker([&](DatasetFault &&fault) { faults.push_back(fault_text(fault)); });
    read_dataset(how.to, [&](const Record &record, const RecordPlace &place) {
      checker.add(record, place);
      if (const auto *end = std::get_if<EndRecord>(&record)) runs += fmt::format("{}.{} ", end->id.job, end->id.run);
    });
    CPPUNIT_ASSERT_EQUAL(std::string(), fmt::format("{}", fmt::join(faults, "; ")));
    CPPUNIT_ASSERT_EQUAL(std::uint64_t{0}, checker.open());
    return runs;
  }

  void what_has_come_since_is_added() {
    const std::string first = row("1", "1", "10:00:00", "11:00:00", "n1", 2),
                      running = row("2", "2", "10:00:00", "Unknown", "n1", 2, "sbatch a.sh", "RUNNING"),
                      ended = row("2", "2", "10:00:00", "12:00:00", "n1", 2),
                      again = row("1", "1", "13:00:00", "14:00:00", "n1", 2),
                      once_more = row("1", "1", "15:00:00", "16:00:00", "n1", 2);
    CPPUNIT_ASSERT_EQUAL(std::string("1.0 2.0 "), runs_of({header + first + running, header + first + ended}));
    // in files of the same name, but for a number
    CPPUNIT_ASSERT_EQUAL(std::string("1.0 2.0 "), runs_of({header + first, header + ended}));
    // of a requeued job sacct tells no earlier runs than one asks for
    CPPUNIT_ASSERT_EQUAL(std::string("1.0 1.1 1.2 "), runs_of({header + first + again, header + again + once_more}));
    CPPUNIT_ASSERT_EQUAL(std::string("1.0 1.1 "), runs_of({header + first, header + again}));
    CPPUNIT_ASSERT_EQUAL(std::string("1.1 1.2 1.0 "), // whose file is the last by its name
                         runs_of({header + again, header + first + again + once_more}));
  }

  void a_dataset_that_cannot_be_read_is_not_added_to() {
    const Files files;
    const std::string file = files.write("s.txt", header + row("1", "1", "10:00:00", "11:00:00", "n1", 2));
    files.write("a.jsonl", "nothing\n");
    CPPUNIT_ASSERT_EQUAL(
        std::string("a.jsonl:1: no JSON object; nothing was imported, for which runs are there cannot be told"),
        thrown(
            [&] {
              import_sacct({file, files.path(), "", DatasetUsers::none, false});
            },
            files.path()));
  }

  void a_refused_import_leaves_nothing_behind() {
    const Files files;
    const std::string file = files.write("s.txt", header + row("1", "1", "10:00:00", "11:00:00", "n[1-", 1)),
                      to = files.path() + "/dataset";
    CPPUNIT_ASSERT(!thrown([&] { import_sacct({file, to, "", DatasetUsers::hash, false}); }).empty());
    struct stat facts {};
    CPPUNIT_ASSERT_EQUAL(-1, stat(to.c_str(), &facts));
  }

  void what_is_no_output_of_sacct_is_refused() {
    CPPUNIT_ASSERT_EQUAL(std::string("s.txt:1: the header has no column Start"), refused("JobID|End\n"));
    CPPUNIT_ASSERT_EQUAL(
        std::string("s.txt:1: the header has none of the columns End, ElapsedRaw and Elapsed: there is "
                    "no telling how long jobs ran"),
        refused("JobID|Start|ReqTRES\n"));
    CPPUNIT_ASSERT(refused("JobID|Start|End\n").find("neither a column AllocTRES nor ReqTRES") != std::string::npos);
    CPPUNIT_ASSERT_EQUAL(std::string("s.txt: has no job with GPUs that ran"),
                         refused(header + row("1", "1", "10:00:00", "11:00:00", "n1", 0)));
    CPPUNIT_ASSERT_EQUAL(std::string("s.txt:2: JobID is \"x\", not the number of a job"),
                         refused(header + row("x", "1", "10:00:00", "11:00:00", "n1", 1)));
    CPPUNIT_ASSERT_EQUAL(std::string("s.txt:2: NodeList is \"n[1-\", not a list of nodes"),
                         refused(header + row("1", "1", "10:00:00", "11:00:00", "n[1-", 1)));
    CPPUNIT_ASSERT_EQUAL(std::string("s.txt:2: End is before Start"),
                         refused(header + row("1", "1", "10:00:00", "09:00:00", "n1", 1)));
    CPPUNIT_ASSERT_EQUAL(std::string("s.txt:2: State is \"done\", not a state of Slurm"),
                         refused(header + row("1", "1", "10:00:00", "11:00:00", "n1", 1, "sbatch", "done")));
  }

  void bad_rows_can_be_skipped() {
    SacctImport how;
    how.skip_bad = true;
    const Read read = import(header + row("x", "1", "10:00:00", "11:00:00", "n1", 2) +
                                 row("2", "2", "10:00:00", "11:00:00", "n1", 2, "sbatch", "CANCELLED by 1000"),
                             how);
    CPPUNIT_ASSERT_EQUAL(std::size_t{1}, read.starts.size());
    CPPUNIT_ASSERT_EQUAL(std::string("CANCELLED"), read.ends[0].state);
    CPPUNIT_ASSERT_EQUAL(std::size_t{0}, read.notes.at(0).find("1 row skipped, the first at "));
  }

  static std::string expanded(const std::string &text) {
    const auto nodes = nodes_of_list(text, 100);
    return nodes ? fmt::format("{}", fmt::join(*nodes, " ")) : "none";
  }

  void node_lists_are_expanded() {
    CPPUNIT_ASSERT_EQUAL(std::string("n1"), expanded("n1"));
    CPPUNIT_ASSERT_EQUAL(std::string("n1 n2 n3 n07 gpu-a09 gpu-a10 x"), expanded("n[1-3,07],gpu-a[09-10],x"));
    CPPUNIT_ASSERT_EQUAL(std::string("r1n1 r1n2 r2n1 r2n2"), expanded("r[1-2]n[1-2]"));
  }

  void node_lists_are_bounded() {
    for (const char *bad :
         {"", ",", "n1,", "n[", "n[]", "n[1", "n]1", "n[3-1]", "n[1-101]", "n[1-99999999999]", "n[-1]", "n[1--2]",
          "a b", "n[1-50],m[1-51]", "a[1-20]b[1-20]", "n[0-9223372036854775807]", "n\n"})
      CPPUNIT_ASSERT_EQUAL_MESSAGE(bad, std::string("none"), expanded(bad));
    CPPUNIT_ASSERT_EQUAL(std::string("none"), expanded(std::string(1000, 'n')));
  }
};

CPPUNIT_TEST_SUITE_REGISTRATION(ImportSacctTest);

} // namespace harmony
