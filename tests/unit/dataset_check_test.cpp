#include "src/record/dataset_check.h"

#include "tests/unit/dataset_fixture.h"

#include <fmt/format.h>

namespace harmony {

using namespace fixtures;

class DatasetCheckTest : public CppUnit::TestFixture {
  CPPUNIT_TEST_SUITE(DatasetCheckTest);
  CPPUNIT_TEST(a_sound_run_has_no_faults);
  CPPUNIT_TEST(a_run_starts_once);
  CPPUNIT_TEST(a_run_ends_once_and_nothing_comes_after);
  CPPUNIT_TEST(an_end_or_interval_needs_a_start);
  CPPUNIT_TEST(a_start_may_have_gone_with_an_old_file_or_in_a_gap);
  CPPUNIT_TEST(intervals_follow_each_other_within_their_run);
  CPPUNIT_TEST(time_does_not_go_back_within_a_file);
  CPPUNIT_TEST(every_run_of_a_requeued_job_is_its_own);
  CPPUNIT_TEST_SUITE_END();

  // Each fault as "LINE: what". A record a line, behind one that was there before all of them.
  static std::vector<std::string> faults(const std::vector<Record> &records, std::uint64_t cut_off = 0) {
    std::vector<std::string> told;
    DatasetChecker checker(
        [&](DatasetFault &&fault) { told.push_back(fmt::format("{}: {}", fault.line, fault.what)); });
    const std::string file = "a.jsonl";
    int line = 0;
    checker.add(end_of(99, "x", 0, 10), {file, line});
    for (const Record &record : records) checker.add(record, {file, ++line});
    CPPUNIT_ASSERT_EQUAL(cut_off + 1, checker.cut_off());
    return told;
  }
  static void assert_fault(const std::string &fault, const std::vector<Record> &records) {
    const std::vector<std::string> told = faults(records);
    CPPUNIT_ASSERT_EQUAL_MESSAGE(fault, std::size_t{1}, told.size());
    CPPUNIT_ASSERT_EQUAL(fault, told.front());
  }
  static StartRecord resumed(StartRecord start) {
    start.resumed = true;
    return start;
  }

  void a_sound_run_has_no_faults() {
    CPPUNIT_ASSERT(faults({start_of(1, "a", 20), interval_of(1, "a", 20, 30), resumed(start_of(1, "a", 20)),
                           interval_of(1, "a", 30, 40), end_of(1, "a", 20, 40)})
                       .empty());
    CPPUNIT_ASSERT(faults({resumed(start_of(1, "a", 20)), end_of(1, "a", 20, 40)}).empty());
  }

  void a_run_starts_once() {
    assert_fault("2: run 0 of job 1 (c1) starts a second time; it started at a.jsonl:1",
                 {start_of(1, "a", 20), start_of(1, "a", 25)});
    assert_fault("3: start of run 0 of job 1 (c1), which has ended before",
                 {start_of(1, "a", 20), end_of(1, "a", 20, 30), start_of(1, "a", 40)});
  }

  void a_run_ends_once_and_nothing_comes_after() {
    assert_fault("3: end of run 0 of job 1 (c1), which has ended before",
                 {start_of(1, "a", 20), end_of(1, "a", 20, 30), end_of(1, "a", 20, 30)});
    assert_fault("3: interval of run 0 of job 1 (c1), which has ended before",
                 {start_of(1, "a", 20), end_of(1, "a", 20, 30), interval_of(1, "a", 20, 30)});
  }

  void an_end_or_interval_needs_a_start() {
    assert_fault("1: end of run 0 of job 1 (c1), which has no start", {end_of(1, "a", 20, 30)});
    // once only
    assert_fault("1: interval of run 0 of job 1 (c1), which has no start",
                 {interval_of(1, "a", 20, 30), interval_of(1, "a", 30, 40), end_of(1, "a", 20, 40)});
  }

  void a_start_may_have_gone_with_an_old_file_or_in_a_gap() {
    CPPUNIT_ASSERT(faults({end_of(1, "a", 5, 30)}, 1).empty()); // what is there begins at 10
    CPPUNIT_ASSERT(faults({interval_of(1, "a", 5, 30), interval_of(1, "a", 30, 40)}, 1).empty());
    GapRecord gap;
    gap.cluster = "c1";
    gap.at_s = 50;
    gap.lost = 3;
    CPPUNIT_ASSERT(faults({gap, end_of(1, "a", 40, 60)}, 1).empty());
    assert_fault("2: end of run 0 of job 1 (c1), which has no start", {gap, end_of(1, "a", 55, 60)});
    gap.cluster = "c2";
    assert_fault("2: end of run 0 of job 1 (c1), which has no start", {gap, end_of(1, "a", 40, 60)});
  }

  void intervals_follow_each_other_within_their_run() {
    assert_fault("3: interval of run 0 of job 1 (c1) overlaps the one before by 5 s",
                 {start_of(1, "a", 20), interval_of(1, "a", 20, 30), interval_of(1, "a", 25, 40)});
    assert_fault("2: interval of run 0 of job 1 (c1) begins 8 s before the run",
                 {start_of(1, "a", 20), interval_of(1, "a", 12, 30)});
    assert_fault("3: run 0 of job 1 (c1) ends 10 s before its last interval does, or before it started",
                 {start_of(1, "a", 20), interval_of(1, "a", 20, 50), end_of(1, "a", 20, 40)});
  }

  void time_does_not_go_back_within_a_file() {
    assert_fault("2: time goes back by 5000 s: the clock was put back, or lines are not in their order",
                 {start_of(1, "a", 9000), start_of(2, "a", 4000), start_of(3, "a", 4100)});
    CPPUNIT_ASSERT(faults({start_of(1, "a", 9000), start_of(2, "a", 8990)}).empty()); // noticed a little late
    CPPUNIT_ASSERT(faults({start_of(1, "a", 9000), resumed(start_of(2, "a", 100))}).empty());
    std::vector<std::string> told;
    DatasetChecker checker([&](DatasetFault &&fault) { told.push_back(fault.what); });
    const std::string first = "a.jsonl", second = "b.jsonl";
    checker.add(start_of(1, "a", 9000), {first, 1});
    checker.add(start_of(2, "a", 10), {second, 1}); // files of an import may be older
    CPPUNIT_ASSERT(told.empty());
  }

  void every_run_of_a_requeued_job_is_its_own() {
    StartRecord start = start_of(1, "a", 40);
    EndRecord end = end_of(1, "a", 40, 50);
    start.id.run = end.id.run = 1;
    CPPUNIT_ASSERT(faults({start_of(1, "a", 20), end_of(1, "a", 20, 30, 0, "REQUEUED"), start, end}).empty());
  }
};

CPPUNIT_TEST_SUITE_REGISTRATION(DatasetCheckTest);

} // namespace harmony
