// The gate holds a job back for one round at most, and never for ever.
#include "src/plan/gate.h"

#include <cppunit/extensions/HelperMacros.h>

using harmony::Gate;
using harmony::GateAnswer;

class GateTest : public CppUnit::TestFixture {
  CPPUNIT_TEST_SUITE(GateTest);
  CPPUNIT_TEST(a_job_without_a_plan_is_held_until_a_later_round_has_ended);
  CPPUNIT_TEST(a_round_that_began_before_the_job_asked_does_not_open_it);
  CPPUNIT_TEST(a_round_that_never_ends_opens_it_after_one_interval);
  CPPUNIT_TEST(once_open_it_stays_open_for_three_intervals);
  CPPUNIT_TEST(all_holds_of_a_job_together_end_at_the_limit);
  CPPUNIT_TEST(a_job_whose_plan_was_stale_may_be_held_again_at_once);
  CPPUNIT_TEST(room_that_came_back_holds_a_job_for_another_round_but_not_for_ever);
  CPPUNIT_TEST(misses_are_counted_once_a_round);
  CPPUNIT_TEST(each_cause_is_said_once_for_a_job);
  CPPUNIT_TEST(jobs_that_are_gone_are_forgotten);
  CPPUNIT_TEST_SUITE_END();

public:
  void setUp() override { gate.set_limits({1000, 10000}); }

  void a_job_without_a_plan_is_held_until_a_later_round_has_ended() {
    is(GateAnswer::hold, gate.ask(1, 0, 5, 5));
    is(GateAnswer::hold, gate.ask(1, 10, 6, 5));
    is(GateAnswer::just_opened, gate.ask(1, 20, 6, 6));
    is(GateAnswer::open, gate.ask(1, 21, 6, 6));
  }

  void a_round_that_began_before_the_job_asked_does_not_open_it() {
    is(GateAnswer::hold, gate.ask(1, 0, 6, 5)); // round 6 has taken its snapshot already
    is(GateAnswer::hold, gate.ask(1, 10, 6, 6));
    is(GateAnswer::just_opened, gate.ask(1, 20, 7, 7));
  }

  void a_round_that_never_ends_opens_it_after_one_interval() {
    is(GateAnswer::hold, gate.ask(1, 0, 5, 5));
    is(GateAnswer::hold, gate.ask(1, 999, 6, 5));
    is(GateAnswer::just_opened, gate.ask(1, 1000, 6, 5));
  }

  void once_open_it_stays_open_for_three_intervals() {
    gate.ask(1, 0, 5, 5);
    is(GateAnswer::just_opened, gate.ask(1, 100, 6, 6));
    is(GateAnswer::open, gate.ask(1, 3099, 9, 9));
    is(GateAnswer::hold, gate.ask(1, 3100, 9, 9));
  }

  void all_holds_of_a_job_together_end_at_the_limit() {
    std::int64_t held = 0, now = 0;
    GateAnswer before = GateAnswer::open;
    for (; now < 500000; now += 10) {
      const GateAnswer answer = gate.ask(1, now, 1, 1); // no round ever comes
      if (before == GateAnswer::hold) held += 10;
      before = answer;
    }
    CPPUNIT_ASSERT(held >= 9000 && held <= 10000);
    is(GateAnswer::open, gate.ask(1, now, 1, 1));
  }

  void a_job_whose_plan_was_stale_may_be_held_again_at_once() {
    gate.ask(1, 0, 5, 5);
    gate.has_plan(1, 50);
    is(GateAnswer::hold, gate.ask(1, 60, 6, 6));
    is(GateAnswer::just_opened, gate.ask(1, 70, 7, 7));
  }

  void room_that_came_back_holds_a_job_for_another_round_but_not_for_ever() {
    std::int64_t now = 0;
    int holds = 0;
    for (std::uint64_t round = 1; round <= 6; ++round, now += 100) {
      gate.had_no_room(1, round, now);
      holds += gate.ask(1, now, round, round) == GateAnswer::hold;
    }
    CPPUNIT_ASSERT_EQUAL(3, holds);
    is(GateAnswer::open, gate.ask(1, now, 7, 7));
    is(GateAnswer::hold, gate.ask(1, now + 3000, 7, 7));
  }

  void misses_are_counted_once_a_round() {
    CPPUNIT_ASSERT_EQUAL(1, gate.missed(1, 7, 10));
    CPPUNIT_ASSERT_EQUAL(1, gate.missed(1, 7, 10));
    CPPUNIT_ASSERT_EQUAL(2, gate.missed(1, 8, 10));
    gate.forget(1);
    CPPUNIT_ASSERT_EQUAL(1, gate.missed(1, 9, 10));
  }

  void each_cause_is_said_once_for_a_job() {
    CPPUNIT_ASSERT(gate.first_time(1, 0, 10));
    CPPUNIT_ASSERT(gate.first_time(1, 3, 10));
    CPPUNIT_ASSERT(!gate.first_time(1, 0, 10));
    CPPUNIT_ASSERT(gate.first_time(2, 0, 10));
  }

  void jobs_that_are_gone_are_forgotten() {
    gate.ask(1, 0, 5, 5);
    gate.ask(2, 500, 5, 5);
    gate.missed(3, 1, 600);
    gate.forget_silent_since(400);
    CPPUNIT_ASSERT_EQUAL(std::size_t{2}, gate.size());
    gate.forget(3);
    gate.forget(2);
    CPPUNIT_ASSERT_EQUAL(std::size_t{0}, gate.size());
  }

private:
  static void is(GateAnswer expected, GateAnswer found) {
    CPPUNIT_ASSERT_EQUAL(static_cast<int>(expected), static_cast<int>(found));
  }

  Gate gate;
};

CPPUNIT_TEST_SUITE_REGISTRATION(GateTest);
