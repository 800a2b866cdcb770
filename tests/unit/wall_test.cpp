#include "plugin/engine/wall.h"

#include <cppunit/extensions/HelperMacros.h>

#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace harmony {

class WallTest : public CppUnit::TestFixture {
  CPPUNIT_TEST_SUITE(WallTest);
  CPPUNIT_TEST(an_answer_passes);
  CPPUNIT_TEST(an_exception_becomes_a_line_and_the_other_answer);
  CPPUNIT_TEST(anything_that_is_thrown_is_stopped);
  CPPUNIT_TEST(a_storm_of_exceptions_is_one_line_a_minute);
  CPPUNIT_TEST(a_clock_that_jumps_back_does_not_silence_it);
  CPPUNIT_TEST(threads_agree_on_who_writes_the_line);
  CPPUNIT_TEST_SUITE_END();

  void an_answer_passes() {
    WallLog log;
    CPPUNIT_ASSERT_EQUAL(7, behind_wall(
                                log, 0, [](const char *) {}, [] { return 7; }));
    CPPUNIT_ASSERT_EQUAL(std::uint64_t{0}, log.caught());
  }

  void an_exception_becomes_a_line_and_the_other_answer() {
    WallLog log;
    std::string line;
    const int answer = behind_wall(
        log, -1, [&](const char *what) { line = what; }, []() -> int { throw std::runtime_error("out of paper"); });
    CPPUNIT_ASSERT_EQUAL(-1, answer);
    CPPUNIT_ASSERT_EQUAL(std::string("out of paper"), line);
  }

  void anything_that_is_thrown_is_stopped() {
    WallLog log;
    std::string line;
    behind_wall(
        log, false, [&](const char *what) { line = what; }, []() -> bool { throw 42; });
    CPPUNIT_ASSERT_EQUAL(std::string("an exception that is no std::exception"), line);
  }

  void a_storm_of_exceptions_is_one_line_a_minute() {
    WallLog log;
    int lines = 0;
    for (std::time_t now = 1000; now < 1120; ++now) lines += log.count(now);
    CPPUNIT_ASSERT_EQUAL(2, lines);
    CPPUNIT_ASSERT_EQUAL(std::uint64_t{120}, log.caught());
  }

  void a_clock_that_jumps_back_does_not_silence_it() {
    WallLog log;
    CPPUNIT_ASSERT(log.count(5000));
    CPPUNIT_ASSERT(log.count(10));
  }

  void threads_agree_on_who_writes_the_line() {
    WallLog log;
    std::atomic<int> lines{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i)
      threads.emplace_back([&] {
        for (int n = 0; n < 1000; ++n) lines += log.count(1000);
      });
    for (std::thread &thread : threads) thread.join();
    CPPUNIT_ASSERT_EQUAL(1, lines.load());
    CPPUNIT_ASSERT_EQUAL(std::uint64_t{4000}, log.caught());
  }
};

CPPUNIT_TEST_SUITE_REGISTRATION(WallTest);

} // namespace harmony
