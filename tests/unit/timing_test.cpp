#include "src/values/timing.h"

#include <cppunit/extensions/HelperMacros.h>

#include <limits>
#include <memory>
#include <thread>
#include <vector>

namespace harmony {

class TimingTest : public CppUnit::TestFixture {
  CPPUNIT_TEST_SUITE(TimingTest);
  CPPUNIT_TEST(nothing_added_is_all_zero);
  CPPUNIT_TEST(mean_and_max_are_exact);
  CPPUNIT_TEST(p99_is_within_an_eighth_over_the_whole_range);
  CPPUNIT_TEST(p99_leaves_one_in_a_hundred_out);
  CPPUNIT_TEST(odd_durations_are_counted_too);
  CPPUNIT_TEST(a_reset_forgets_everything);
  CPPUNIT_TEST(no_thread_loses_a_count);
  CPPUNIT_TEST_SUITE_END();

  void nothing_added_is_all_zero() {
    const TimingSummary summary = Timing().summary();
    CPPUNIT_ASSERT_EQUAL(std::uint64_t{0}, summary.count);
    CPPUNIT_ASSERT_EQUAL(0.0, summary.sum_us + summary.mean_us + summary.p99_us + summary.max_us);
  }

  void mean_and_max_are_exact() {
    Timing timing;
    for (const std::int64_t ns : {1000, 2000, 6000}) timing.add(ns);
    const TimingSummary summary = timing.summary();
    CPPUNIT_ASSERT_EQUAL(std::uint64_t{3}, summary.count);
    CPPUNIT_ASSERT_EQUAL(9.0, summary.sum_us);
    CPPUNIT_ASSERT_EQUAL(3.0, summary.mean_us);
    CPPUNIT_ASSERT_EQUAL(6.0, summary.max_us);
  }

  // Beside a far longer one, because the maximum would otherwise hide the width of the bucket.
  void p99_is_within_an_eighth_over_the_whole_range() {
    for (double ns = 100; ns <= 1e12; ns *= 1.03) {
      Timing timing;
      const auto duration = static_cast<std::int64_t>(ns);
      for (int i = 0; i < 199; ++i) timing.add(duration);
      timing.add(std::int64_t{1} << 42);
      const double p99_ns = timing.summary().p99_us * 1000, exact = static_cast<double>(duration);
      CPPUNIT_ASSERT_MESSAGE(std::to_string(duration), p99_ns >= exact * 0.999999 && p99_ns <= exact * 1.125);
    }
  }

  void p99_leaves_one_in_a_hundred_out() {
    Timing timing;
    for (int i = 0; i < 99; ++i) timing.add(1000);
    timing.add(1000000);
    CPPUNIT_ASSERT(timing.summary().p99_us < 1.2);
    timing.add(1000000);
    CPPUNIT_ASSERT_EQUAL(1000.0, timing.summary().p99_us);
  }

  void odd_durations_are_counted_too() {
    Timing timing;
    timing.add(-5);
    timing.add(0);
    CPPUNIT_ASSERT_EQUAL(0.0, timing.summary().p99_us);
    timing.add(std::numeric_limits<std::int64_t>::max());
    CPPUNIT_ASSERT_EQUAL(std::uint64_t{3}, timing.summary().count);
    CPPUNIT_ASSERT_EQUAL(timing.summary().max_us, timing.summary().p99_us);
  }

  void a_reset_forgets_everything() {
    Timing timing;
    timing.add(5000);
    timing.reset();
    CPPUNIT_ASSERT_EQUAL(std::uint64_t{0}, timing.summary().count);
    timing.add(1000);
    CPPUNIT_ASSERT_EQUAL(1.0, timing.summary().max_us);
  }

  void no_thread_loses_a_count() {
    const auto timing = std::make_unique<Timing>();
    std::vector<std::thread> threads;
    for (int thread = 1; thread <= 4; ++thread)
      threads.emplace_back([&timing, thread] {
        for (int i = 0; i < 10000; ++i) timing->add(thread * 1000);
      });
    for (int i = 0; i < 100; ++i) CPPUNIT_ASSERT(timing->summary().count <= 40000);
    for (std::thread &thread : threads) thread.join();
    CPPUNIT_ASSERT_EQUAL(std::uint64_t{40000}, timing->summary().count);
    CPPUNIT_ASSERT_EQUAL(100000.0, timing->summary().sum_us);
    CPPUNIT_ASSERT_EQUAL(4.0, timing->summary().max_us);
  }
};

CPPUNIT_TEST_SUITE_REGISTRATION(TimingTest);

} // namespace harmony
