#include "src/record/dataset_reader.h"

#include "tests/unit/dataset_fixture.h"

#include <limits>
#include <sys/stat.h>

namespace harmony {

using namespace fixtures;

class IntervalSpeedsTest : public CppUnit::TestFixture {
  CPPUNIT_TEST_SUITE(IntervalSpeedsTest);
  CPPUNIT_TEST(what_a_simulation_measured_stands_as_it_is);
  CPPUNIT_TEST(declared_epochs_are_shared_out_evenly_without_claims);
  CPPUNIT_TEST(claims_move_progress_within_the_run);
  CPPUNIT_TEST(a_claim_is_part_of_what_it_claims_to_be_of);
  CPPUNIT_TEST(no_claim_invents_progress);
  CPPUNIT_TEST(a_claim_that_cannot_be_right_is_not_believed);
  CPPUNIT_TEST(speeds_are_relative_to_the_fast_runs_of_the_same_kind);
  CPPUNIT_TEST(a_run_that_is_too_fast_to_be_true_is_left_out);
  CPPUNIT_TEST(runs_without_a_known_speed_are_left_out);
  CPPUNIT_TEST(records_that_were_lost_do_not_make_the_rest_faster);
  CPPUNIT_TEST(nothing_is_learned_from_a_run_that_was_disturbed);
  CPPUNIT_TEST(time_in_which_a_run_was_suspended_does_not_slow_it);
  CPPUNIT_TEST(intervals_that_overlap_share_the_same_epochs);
  CPPUNIT_TEST(intervals_come_in_the_order_of_the_files);
  CPPUNIT_TEST(a_faulty_record_is_refused_with_file_and_line);
  CPPUNIT_TEST_SUITE_END();

  static std::vector<IntervalRecord> read(const std::vector<Record> &records) {
    const Files files;
    files.write("a.jsonl", lines_of(records));
    return read_intervals(files.path());
  }

  static double epochs(const std::vector<IntervalRecord> &intervals) {
    double sum = 0;
    for (const IntervalRecord &interval : intervals) sum += interval.epochs.value();
    return sum;
  }

  // A run of 100 s and 10 epochs, in intervals of 50 s.
  static std::vector<IntervalRecord> two_halves(const IntervalRecord &first, const IntervalRecord &second) {
    const std::vector<IntervalRecord> intervals = read({first, second, end_of(1, "a", 0, 100, 10)});
    CPPUNIT_ASSERT_EQUAL(std::size_t{2}, intervals.size());
    CPPUNIT_ASSERT_DOUBLES_EQUAL(10, epochs(intervals), 1e-9);
    return intervals;
  }
  static IntervalRecord first() { return interval_of(1, "a", 0, 50); }
  static IntervalRecord second() { return interval_of(1, "a", 50, 100); }

  static void assert_even(const std::vector<IntervalRecord> &intervals) {
    CPPUNIT_ASSERT_DOUBLES_EQUAL(5, intervals[0].epochs.value(), 1e-9);
    CPPUNIT_ASSERT_DOUBLES_EQUAL(1, intervals[0].relative_speed.value(), 1e-9);
  }

  void what_a_simulation_measured_stands_as_it_is() {
    const auto intervals = read({simulated(first(), 0.5), end_of(1, "a", 0, 100, 90)});
    CPPUNIT_ASSERT_EQUAL(std::size_t{1}, intervals.size());
    CPPUNIT_ASSERT_EQUAL(25.0, intervals[0].epochs.value());
    CPPUNIT_ASSERT_EQUAL(0.5, intervals[0].relative_speed.value());
  }

  void declared_epochs_are_shared_out_evenly_without_claims() { assert_even(two_halves(first(), second())); }

  void claims_move_progress_within_the_run() {
    const auto intervals = two_halves(claiming(first(), 2, 50), second());
    CPPUNIT_ASSERT_DOUBLES_EQUAL(2, intervals[0].epochs.value(), 1e-9);
    CPPUNIT_ASSERT_DOUBLES_EQUAL(0.4, intervals[0].relative_speed.value(), 1e-9);
    CPPUNIT_ASSERT_DOUBLES_EQUAL(1.6, intervals[1].relative_speed.value(), 1e-9);
    // Between two claims progress is taken to be even.
    const auto between = two_halves(claiming(first(), 2, 25), claiming(second(), 8, 75));
    CPPUNIT_ASSERT_DOUBLES_EQUAL(5, between[0].epochs.value(), 1e-9);
  }

  void a_claim_is_part_of_what_it_claims_to_be_of() {
    IntervalRecord claimed = claiming(first(), 300, 50);
    claimed.claim->of = 1000; // it counts in another unit
    CPPUNIT_ASSERT_DOUBLES_EQUAL(3, two_halves(claimed, second())[0].epochs.value(), 1e-9);
    claimed.claim->of = 0;
    assert_even(two_halves(claimed, second()));
  }

  void no_claim_invents_progress() {
    for (const double one : {0.0, 3.0, 10.0, 11.0, 1e6})
      for (const double other : {0.0, 2.0, 10.0, 1e6})
        for (const double at : {0.0, 1.0, 49.0, 50.0, 99.0, 1e9}) {
          const auto intervals = two_halves(claiming(first(), one, at), claiming(second(), other, at));
          for (const IntervalRecord &interval : intervals) {
            CPPUNIT_ASSERT(interval.epochs.value() >= 0 && interval.epochs.value() <= 10 + 1e-9);
            CPPUNIT_ASSERT(interval.relative_speed.value() >= 0 && interval.relative_speed.value() <= 2 + 1e-9);
          }
        }
  }

  void a_claim_that_cannot_be_right_is_not_believed() {
    // all of it in the first second, which is an interval of its own
    const auto intervals = read({claiming(interval_of(1, "a", 0, 1), 10, 1),
                                 claiming(interval_of(1, "a", 1, 100), 10, 99), end_of(1, "a", 0, 100, 10)});
    CPPUNIT_ASSERT_DOUBLES_EQUAL(0.1, intervals[0].epochs.value(), 1e-9);
    // a claim that goes back is passed over, and the one before stands
    const auto back = two_halves(claiming(first(), 4, 50), claiming(second(), 1, 60));
    CPPUNIT_ASSERT_DOUBLES_EQUAL(4, back[0].epochs.value(), 1e-9);
    // a clock of the future counts as the moment when the claim was seen
    const auto future = two_halves(claiming(first(), 4, 1e9), second());
    CPPUNIT_ASSERT_DOUBLES_EQUAL(4, future[0].epochs.value(), 1e-9);
  }

  static void add_run(std::vector<Record> &records, std::uint32_t job, double seconds, int workers = 2) {
    IntervalRecord interval = interval_of(job, "a", 0, seconds);
    interval.workers = workers;
    records.emplace_back(interval);
    records.emplace_back(end_of(job, "a", 0, seconds, 100));
  }

  void speeds_are_relative_to_the_fast_runs_of_the_same_kind() {
    std::vector<Record> records;
    add_run(records, 1, 60); // the one in twenty that is beyond the 95th percentile
    for (std::uint32_t job = 2; job <= 3; ++job) add_run(records, job, 100);
    for (std::uint32_t job = 4; job <= 20; ++job) add_run(records, job, 200);
    add_run(records, 30, 400, 8); // of another kind
    const auto intervals = read(records);
    CPPUNIT_ASSERT_EQUAL(std::size_t{21}, intervals.size());
    CPPUNIT_ASSERT_DOUBLES_EQUAL(1 / 0.6, intervals[0].relative_speed.value(), 1e-9);
    CPPUNIT_ASSERT_DOUBLES_EQUAL(1, intervals[1].relative_speed.value(), 1e-9);
    CPPUNIT_ASSERT_DOUBLES_EQUAL(0.5, intervals[5].relative_speed.value(), 1e-9);
    CPPUNIT_ASSERT_DOUBLES_EQUAL(1, intervals[20].relative_speed.value(), 1e-9);
  }

  void a_run_that_is_too_fast_to_be_true_is_left_out() {
    std::vector<Record> records;
    add_run(records, 1, 0.001);
    for (std::uint32_t job = 2; job <= 20; ++job) add_run(records, job, 100);
    const auto intervals = read(records);
    CPPUNIT_ASSERT_EQUAL(std::size_t{19}, intervals.size());
    CPPUNIT_ASSERT_DOUBLES_EQUAL(1, intervals[0].relative_speed.value(), 1e-9);
  }

  void runs_without_a_known_speed_are_left_out() {
    CPPUNIT_ASSERT(read({first(), end_of(1, "a", 0, 100, 10, "TIMEOUT")}).empty());
    CPPUNIT_ASSERT(read({first(), end_of(1, "a", 0, 100)}).empty());       // declared none
    CPPUNIT_ASSERT(read({first()}).empty());                               // runs still
    CPPUNIT_ASSERT(read({first(), end_of(1, "a", 100, 100, 10)}).empty()); // took no time
    CPPUNIT_ASSERT(read({first(), end_of(2, "a", 0, 100, 10)}).empty());   // another job
    CPPUNIT_ASSERT(read({interval_of(1, "a", 5, 5), end_of(1, "a", 0, 100, 10)}).empty());
  }

  void records_that_were_lost_do_not_make_the_rest_faster() {
    const auto intervals = read({first(), end_of(1, "a", 0, 100, 10)});
    assert_even(intervals);
  }

  void nothing_is_learned_from_a_run_that_was_disturbed() {
    EndRecord end = end_of(1, "a", 0, 100, 50); // nor are others measured by it
    end.disturbed = true;
    const auto intervals = read({first(), second(), end, interval_of(2, "a", 0, 50), end_of(2, "a", 0, 50, 10)});
    CPPUNIT_ASSERT_EQUAL(std::size_t{1}, intervals.size());
    CPPUNIT_ASSERT_EQUAL(std::uint32_t{2}, intervals[0].id.job);
    CPPUNIT_ASSERT_DOUBLES_EQUAL(1, intervals[0].relative_speed.value(), 1e-9);
  }

  void time_in_which_a_run_was_suspended_does_not_slow_it() {
    EndRecord end = end_of(1, "a", 0, 100, 10);
    end.elapsed_s = 50;
    const auto intervals = read({first(), second(), end, interval_of(2, "a", 0, 50), end_of(2, "a", 0, 50, 10)});
    CPPUNIT_ASSERT_EQUAL(std::size_t{3}, intervals.size());
    for (const IntervalRecord &interval : intervals)
      CPPUNIT_ASSERT_DOUBLES_EQUAL(1, interval.relative_speed.value(), 1e-9);
  }

  void intervals_that_overlap_share_the_same_epochs() {
    const auto intervals = read({interval_of(1, "a", 0, 100), interval_of(1, "a", 0, 100), end_of(1, "a", 0, 100, 10)});
    CPPUNIT_ASSERT_DOUBLES_EQUAL(10, epochs(intervals), 1e-9);
  }

  void intervals_come_in_the_order_of_the_files() {
    const auto intervals =
        read({first(), simulated(interval_of(2, "b", 10, 20), 1), second(), end_of(1, "a", 0, 100, 10)});
    CPPUNIT_ASSERT_EQUAL(std::size_t{3}, intervals.size());
    CPPUNIT_ASSERT_EQUAL(std::string("b"), intervals[1].type);
    CPPUNIT_ASSERT_EQUAL(50.0, intervals[2].begin_s);
  }

  void a_faulty_record_is_refused_with_file_and_line() {
    const Files files;
    files.write("a.jsonl", lines_of({first()}) + "{\"schema\":2,\"record\":\"interval\"}\n");
    const std::string said = thrown([&] { read_intervals(files.path()); }, files.path());
    CPPUNIT_ASSERT_EQUAL_MESSAGE(said, std::size_t{0}, said.find("a.jsonl:2: job "));
    CPPUNIT_ASSERT(!thrown([&] { read_intervals(files.path() + "/nowhere"); }).empty());
    const Files damaged;
    damaged.write("a.jsonl", lines_of({first()}));
    CPPUNIT_ASSERT_EQUAL(0, mkdir((damaged.path() + "/b.jsonl").c_str(), 0700));
    CPPUNIT_ASSERT_EQUAL(std::string("b.jsonl: is no regular file"),
                         thrown([&] { read_intervals(damaged.path()); }, damaged.path()));
  }
};

CPPUNIT_TEST_SUITE_REGISTRATION(IntervalSpeedsTest);

} // namespace harmony
