#include "src/sim/metrics.h"
#include "src/sim/result_text.h"
#include "src/sim/timeline.h"

#include <cppunit/extensions/HelperMacros.h>

namespace harmony {

class MetricsTest : public CppUnit::TestFixture {
  CPPUNIT_TEST_SUITE(MetricsTest);
  CPPUNIT_TEST(quantiles_lie_between_the_values);
  CPPUNIT_TEST(the_interval_is_students);
  CPPUNIT_TEST(a_job_alone_on_its_share_is_treated_fairly);
  CPPUNIT_TEST(policies_are_compared_with_one_best_baseline);
  CPPUNIT_TEST(a_timeline_stays_short_and_even);
  CPPUNIT_TEST(durations_are_told_in_fitting_units);
  CPPUNIT_TEST_SUITE_END();

  static JobResult job(double submit, double start, double end, double best, int gpus = 1) {
    JobResult made;
    made.submit_s = submit;
    made.start_s = start;
    made.end_s = end;
    made.best_s = best;
    made.gpus = gpus;
    return made;
  }
  static SimResult result(const std::string &policy, std::uint64_t seed, double jct) {
    SimResult made;
    made.policy = policy;
    made.seed = seed;
    made.jobs = {job(0, 0, jct, jct)};
    return made;
  }

  void quantiles_lie_between_the_values() {
    CPPUNIT_ASSERT_EQUAL(2.0, quantile({3, 1, 2}, 0.5));
    CPPUNIT_ASSERT_EQUAL(1.5, quantile({2, 1}, 0.5));
    CPPUNIT_ASSERT_EQUAL(3.0, quantile({3, 1, 2}, 1));
    CPPUNIT_ASSERT_EQUAL(0.0, quantile({}, 0.5));
  }

  void the_interval_is_students() {
    // 1, 2, 3: standard deviation 1, t(2) = 4.303.
    const Mean mean = mean_of({1, 2, 3});
    CPPUNIT_ASSERT_EQUAL(2.0, mean.mean);
    CPPUNIT_ASSERT_DOUBLES_EQUAL(4.303 / 1.7320508, mean.half, 1e-6);
    CPPUNIT_ASSERT_EQUAL(0.0, mean_of({5}).half);
  }

  void a_job_alone_on_its_share_is_treated_fairly() {
    SimResult alone;
    alone.jobs = {job(0, 0, 100, 100, 4)};
    CPPUNIT_ASSERT_DOUBLES_EQUAL(1, fairness(alone, 4).front(), 1e-9);
    // Two of 4 GPUs on 4 GPUs, one after the other: each would have taken 200 s on its half.
    SimResult two;
    two.jobs = {job(0, 0, 100, 100, 4), job(0, 100, 200, 100, 4)};
    CPPUNIT_ASSERT_DOUBLES_EQUAL(0.5, fairness(two, 4)[0], 1e-9);
    CPPUNIT_ASSERT_DOUBLES_EQUAL(200 / 150.0, fairness(two, 4)[1], 1e-9); // half of its time it was alone
  }

  void policies_are_compared_with_one_best_baseline() {
    Comparison comparison;
    comparison.gpus = 8;
    comparison.results = {{result("pack", 1, 100), result("pack", 2, 300)},
                          {result("spread", 1, 200), result("spread", 2, 200)},
                          {result("oracle-greedy", 1, 75), result("oracle-greedy", 2, 150)},
                          {result("no-interference", 1, 50), result("no-interference", 2, 100)}};
    summarise(comparison);
    // spread and pack have the same mean; the first counts, and for itself the other.
    CPPUNIT_ASSERT_EQUAL(std::string("spread"), comparison.summaries[0].best_baseline);
    CPPUNIT_ASSERT_EQUAL(std::string("pack"), comparison.summaries[2].best_baseline);
    CPPUNIT_ASSERT_DOUBLES_EQUAL((0.5 + 1.5) / 2, comparison.summaries[0].against_best.mean, 1e-9);
    CPPUNIT_ASSERT_DOUBLES_EQUAL((0.75 + 0.5) / 2, comparison.summaries[2].against_best.mean, 1e-9);
    CPPUNIT_ASSERT(comparison.summaries[2].knows_gap);
    CPPUNIT_ASSERT_DOUBLES_EQUAL((25 + 150) / (50 + 200.0), comparison.summaries[2].gap_closed.mean, 1e-9);
    CPPUNIT_ASSERT_DOUBLES_EQUAL(1, comparison.summaries[3].gap_closed.mean, 1e-9);
  }

  void a_timeline_stays_short_and_even() {
    Timeline<Usage> timeline(10, 1);
    for (int i = 0; i < 1000; ++i)
      if (timeline.due(i)) timeline.add({static_cast<double>(i)});
    const std::vector<Usage> moments = timeline.take();
    CPPUNIT_ASSERT(moments.size() >= 10 && moments.size() < 20);
    for (std::size_t i = 2; i < moments.size(); ++i)
      CPPUNIT_ASSERT_EQUAL(moments[1].at_s - moments[0].at_s, moments[i].at_s - moments[i - 1].at_s);
  }

  void durations_are_told_in_fitting_units() {
    CPPUNIT_ASSERT_EQUAL(std::string("43.0 s"), duration_text(43));
    CPPUNIT_ASSERT_EQUAL(std::string("12.5 min"), duration_text(750));
    CPPUNIT_ASSERT_EQUAL(std::string("2.50 h"), duration_text(9000));
  }
};

CPPUNIT_TEST_SUITE_REGISTRATION(MetricsTest);

} // namespace harmony
