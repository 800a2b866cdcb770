#include "src/record/pair_coverage.h"

#include "src/record/dataset_stats.h"
#include "tests/unit/dataset_fixture.h"

namespace harmony {

using namespace fixtures;

class PairCoverageTest : public CppUnit::TestFixture {
  CPPUNIT_TEST_SUITE(PairCoverageTest);
  CPPUNIT_TEST(a_pair_is_seen_as_long_as_both_are_there);
  CPPUNIT_TEST(two_neighbours_of_a_type_are_one_pair);
  CPPUNIT_TEST(who_is_alone_has_no_pair);
  CPPUNIT_TEST(old_simulations_do_not_tell_whom_they_met_and_count_as_neither);
  CPPUNIT_TEST(the_speed_of_a_pair_is_the_median_by_time);
  CPPUNIT_TEST(real_runs_are_compared_with_the_fast_ones_of_their_kind);
  CPPUNIT_TEST(a_pair_without_known_speeds_is_seen_all_the_same);
  CPPUNIT_TEST(any_type_may_be_beside_any);
  CPPUNIT_TEST(runs_are_counted_by_how_they_ended);
  CPPUNIT_TEST(an_end_is_lost_if_the_job_runs_again_or_its_time_is_over);
  CPPUNIT_TEST(plan_and_stock_are_counted_apart);
  CPPUNIT_TEST(policies_are_counted_apart_whether_their_plans_were_used_or_not);
  CPPUNIT_TEST(who_placed_a_run_of_which_only_the_middle_was_seen_is_not_known);
  CPPUNIT_TEST(runs_whose_speed_cannot_be_known_are_counted);
  CPPUNIT_TEST(claims_gaps_and_shadows_are_counted);
  CPPUNIT_TEST_SUITE_END();

  static DatasetStats stats_of(const std::vector<Record> &records) {
    DatasetCounter counter;
    for (const Record &record : records) counter.add(record);
    return counter.stats({});
  }
  static PairCoverage coverage_of(const std::vector<Record> &records) { return stats_of(records).coverage; }

  void a_pair_is_seen_as_long_as_both_are_there() {
    const PairCoverage coverage =
        coverage_of({interval_of(1, "a", 0, 60, {"b"}), interval_of(1, "a", 60, 100, {"b", "c"})});
    CPPUNIT_ASSERT_EQUAL(std::size_t{2}, coverage.pairs.size());
    CPPUNIT_ASSERT_EQUAL(100.0, coverage.pairs.at({"a", "b"}).seconds);
    CPPUNIT_ASSERT_EQUAL(40.0, coverage.pairs.at({"a", "c"}).seconds);
    CPPUNIT_ASSERT(coverage.alone.empty());
  }

  void two_neighbours_of_a_type_are_one_pair() {
    CPPUNIT_ASSERT_EQUAL(50.0, coverage_of({interval_of(1, "a", 0, 50, {"b", "b"})}).pairs.at({"a", "b"}).seconds);
  }

  void who_is_alone_has_no_pair() {
    const PairCoverage coverage = coverage_of({simulated(interval_of(1, "a", 0, 50), 1)});
    CPPUNIT_ASSERT(coverage.pairs.empty());
    CPPUNIT_ASSERT_EQUAL(50.0, coverage.alone.at("a").seconds);
    CPPUNIT_ASSERT_DOUBLES_EQUAL(1, coverage.alone.at("a").speed.value(), 0.005);
  }

  void old_simulations_do_not_tell_whom_they_met_and_count_as_neither() {
    IntervalRecord interval = simulated(interval_of(1, "a", 0, 50), 0.5);
    interval.terms.same_domain = 1;
    const PairCoverage coverage = coverage_of({interval});
    CPPUNIT_ASSERT(coverage.pairs.empty() && coverage.alone.empty());
    CPPUNIT_ASSERT_EQUAL(std::size_t{1}, coverage.types.size());
  }

  void the_speed_of_a_pair_is_the_median_by_time() {
    const PairCoverage coverage = coverage_of({simulated(interval_of(1, "a", 0, 10, {"b"}), 0.2),
                                               simulated(interval_of(2, "a", 0, 10, {"b"}), 0.3),
                                               simulated(interval_of(3, "a", 0, 100, {"b"}), 0.8)});
    CPPUNIT_ASSERT_DOUBLES_EQUAL(0.8, coverage.pairs.at({"a", "b"}).speed.value(), 0.005);
  }

  void real_runs_are_compared_with_the_fast_ones_of_their_kind() {
    const PairCoverage coverage = coverage_of({interval_of(1, "a", 0, 100), end_of(1, "a", 0, 100, 10),
                                               interval_of(2, "a", 0, 200, {"b"}), end_of(2, "a", 0, 200, 10)});
    CPPUNIT_ASSERT_DOUBLES_EQUAL(1, coverage.alone.at("a").speed.value(), 0.01);
    CPPUNIT_ASSERT_DOUBLES_EQUAL(0.5, coverage.pairs.at({"a", "b"}).speed.value(), 0.005);
  }

  void a_pair_without_known_speeds_is_seen_all_the_same() {
    const PairCoverage coverage =
        coverage_of({interval_of(1, "a", 0, 100, {"b"}), end_of(1, "a", 0, 100, 10, "FAILED")});
    CPPUNIT_ASSERT_EQUAL(100.0, coverage.pairs.at({"a", "b"}).seconds);
    CPPUNIT_ASSERT(!coverage.pairs.at({"a", "b"}).speed);
  }

  void any_type_may_be_beside_any() {
    const PairCoverage coverage = coverage_of({interval_of(1, "a", 0, 10, {"b"}), interval_of(2, "c", 0, 99)});
    CPPUNIT_ASSERT_EQUAL(std::size_t{9}, coverage.possible()); // a type beside itself, too
    CPPUNIT_ASSERT_EQUAL(std::string("c"), coverage.types.front());
  }

  void runs_are_counted_by_how_they_ended() {
    const DatasetStats stats =
        stats_of({start_of(1, "a", 0), start_of(2, "a", 0), start_of(3, "b", 0), end_of(1, "a", 0, 3600),
                  end_of(2, "a", 0, 3600, 0, "FAILED"), end_of(9, "b", 0, 3600)});
    CPPUNIT_ASSERT_EQUAL(std::uint64_t{4}, stats.runs);
    CPPUNIT_ASSERT_EQUAL(std::uint64_t{3}, stats.complete);
    CPPUNIT_ASSERT_EQUAL(std::uint64_t{1}, stats.without_start);
    CPPUNIT_ASSERT_EQUAL(std::uint64_t{1}, stats.open);
    CPPUNIT_ASSERT_EQUAL(std::uint64_t{1}, stats.states.at("FAILED"));
    CPPUNIT_ASSERT_EQUAL(std::uint64_t{2}, stats.types.at("a").runs);
    CPPUNIT_ASSERT_EQUAL(std::uint64_t{1}, stats.types.at("a").completed);
    CPPUNIT_ASSERT_DOUBLES_EQUAL(4, stats.types.at("a").gpu_hours, 1e-9); // of two GPUs each
  }

  void an_end_is_lost_if_the_job_runs_again_or_its_time_is_over() {
    StartRecord again = start_of(1, "a", 100), limited = start_of(2, "a", 0);
    again.id.run = 1;
    limited.time_limit_min = 10;
    const DatasetStats stats = stats_of({start_of(1, "a", 0), limited, again, start_of(3, "a", 86400)});
    CPPUNIT_ASSERT_EQUAL(std::uint64_t{2}, stats.lost_end);
    CPPUNIT_ASSERT_EQUAL(std::uint64_t{2}, stats.open);
    // A slurmctld that began anew goes on with the same run.
    StartRecord resumed = start_of(1, "a", 0);
    resumed.resumed = true;
    const DatasetStats one = stats_of({start_of(1, "a", 0), resumed, end_of(1, "a", 0, 10)});
    CPPUNIT_ASSERT_EQUAL(std::uint64_t{1}, one.runs);
    CPPUNIT_ASSERT_EQUAL(std::uint64_t{0}, one.lost_end + one.open + one.without_start);
  }

  void plan_and_stock_are_counted_apart() {
    StartRecord planned = start_of(1, "a", 100), stock = start_of(2, "a", 100);
    planned.by_plan = true;
    planned.submit_s = 70;
    const DatasetStats stats =
        stats_of({planned, stock, simulated(interval_of(1, "a", 100, 200), 1),
                  simulated(interval_of(2, "a", 100, 200), 0.5), end_of(1, "a", 100, 200), end_of(2, "a", 100, 400)});
    CPPUNIT_ASSERT_EQUAL(std::uint64_t{1}, stats.plan.runs);
    CPPUNIT_ASSERT_EQUAL(30.0, stats.plan.wait_s.value());
    CPPUNIT_ASSERT_EQUAL(0.0, stats.stock.wait_s.value());
    CPPUNIT_ASSERT_EQUAL(300.0, stats.stock.elapsed_s.value());
    CPPUNIT_ASSERT_DOUBLES_EQUAL(1, stats.plan.slowdown.value(), 0.01);
    CPPUNIT_ASSERT_DOUBLES_EQUAL(2, stats.stock.slowdown.value(), 0.02);
  }

  void policies_are_counted_apart_whether_their_plans_were_used_or_not() {
    StartRecord packed = start_of(1, "a", 0), also = start_of(2, "a", 0), spread = start_of(3, "a", 0);
    packed.by_plan = true;
    spread.policy = "spread";
    spread.by_plan = true;
    const DatasetStats stats = stats_of({packed, also, spread, simulated(interval_of(1, "a", 0, 100), 0.5),
                                         simulated(interval_of(2, "a", 0, 100), 0.5),
                                         simulated(interval_of(3, "a", 0, 100), 1), end_of(3, "a", 0, 100, 9)});
    CPPUNIT_ASSERT_EQUAL(std::size_t{2}, stats.policies.size());
    CPPUNIT_ASSERT_EQUAL(std::uint64_t{2}, stats.policies.at("pack").runs);
    CPPUNIT_ASSERT_DOUBLES_EQUAL(2, stats.policies.at("pack").slowdown.value(), 0.02);
    CPPUNIT_ASSERT_EQUAL(std::uint64_t{1}, stats.policies.at("spread").completed);
    CPPUNIT_ASSERT_DOUBLES_EQUAL(1, stats.policies.at("spread").slowdown.value(), 0.01);
    CPPUNIT_ASSERT_EQUAL(std::uint64_t{2}, stats.plan.runs);
  }

  void who_placed_a_run_of_which_only_the_middle_was_seen_is_not_known() {
    StartRecord resumed = start_of(1, "a", 0);
    resumed.resumed = true;
    resumed.policy = "";
    const DatasetStats stats = stats_of({resumed, end_of(1, "a", 0, 10)});
    CPPUNIT_ASSERT_EQUAL(std::uint64_t{0}, stats.plan.runs + stats.stock.runs);
    CPPUNIT_ASSERT_EQUAL(std::uint64_t{1}, stats.policies.at("").completed);
  }

  void runs_whose_speed_cannot_be_known_are_counted() {
    EndRecord disturbed = end_of(3, "a", 0, 10, 5);
    disturbed.disturbed = true;
    const DatasetStats stats =
        stats_of({end_of(1, "a", 0, 10, 5), end_of(2, "a", 0, 10), disturbed, end_of(4, "a", 0, 10, 0, "FAILED")});
    CPPUNIT_ASSERT_EQUAL(std::uint64_t{1}, stats.without_epochs);
    CPPUNIT_ASSERT_EQUAL(std::uint64_t{1}, stats.disturbed);
  }

  void claims_gaps_and_shadows_are_counted() {
    GapRecord gap;
    gap.cluster = "c1";
    gap.lost = 7;
    ShadowRecord same;
    same.same = true;
    const DatasetStats stats =
        stats_of({start_of(1, "a", 0), start_of(2, "a", 0), claiming(interval_of(1, "a", 0, 5), 1, 2),
                  claiming(interval_of(1, "a", 5, 9), 1, 2), gap, same, ShadowRecord{}});
    CPPUNIT_ASSERT_EQUAL(std::uint64_t{1}, stats.claiming);
    CPPUNIT_ASSERT_EQUAL(std::uint64_t{7}, stats.lost_records);
    CPPUNIT_ASSERT_EQUAL(std::uint64_t{1}, stats.shadow_same);
    CPPUNIT_ASSERT_EQUAL(std::uint64_t{2}, stats.records.at("shadow"));
    CPPUNIT_ASSERT_EQUAL(std::uint64_t{0}, stats.records.at("usage"));
  }
};

CPPUNIT_TEST_SUITE_REGISTRATION(PairCoverageTest);

} // namespace harmony
