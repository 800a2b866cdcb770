#include "src/infer/breaker.h"

#include <cppunit/extensions/HelperMacros.h>

namespace harmony {

class BreakerTest : public CppUnit::TestFixture {
  CPPUNIT_TEST_SUITE(BreakerTest);
  CPPUNIT_TEST(it_is_closed_at_first);
  CPPUNIT_TEST(five_faults_in_a_row_open_it);
  CPPUNIT_TEST(a_good_answer_begins_the_count_anew);
  CPPUNIT_TEST(what_asked_nobody_is_no_fault);
  CPPUNIT_TEST(after_the_pause_it_probes_until_three_in_a_row_were_good);
  CPPUNIT_TEST(a_fault_while_probing_opens_it_for_twice_as_long);
  CPPUNIT_TEST(the_pause_grows_up_to_ten_minutes);
  CPPUNIT_TEST(answers_while_it_is_open_count_for_nothing);
  CPPUNIT_TEST(after_ten_minutes_closed_the_pause_is_the_first_again);
  CPPUNIT_TEST(a_site_may_choose_the_first_pause);
  CPPUNIT_TEST(people_are_told_what_it_does_and_why);
  CPPUNIT_TEST_SUITE_END();

  using State = Breaker::State;
  static constexpr std::int64_t second = 1000, minute = 60 * second;

  static void faults(Breaker &breaker, int count, std::int64_t now) {
    for (int i = 0; i < count; ++i) breaker.fault(now, ModelFault::late);
  }

  static void goods(Breaker &breaker, int count, std::int64_t now) {
    for (int i = 0; i < count; ++i) breaker.good(now);
  }

  // How long from now it is not asked.
  static std::int64_t pause(const Breaker &breaker, std::int64_t now) {
    std::int64_t ms = 0;
    while (breaker.state(now + ms) == State::open) ms += 100;
    return ms;
  }

  static void is(State expected, const Breaker &breaker, std::int64_t now) {
    CPPUNIT_ASSERT_MESSAGE(breaker.text(now), expected == breaker.state(now));
  }

  void it_is_closed_at_first() {
    for (const std::int64_t now : {std::int64_t{0}, minute, 1000 * minute}) is(State::closed, Breaker(), now);
  }

  void five_faults_in_a_row_open_it() {
    Breaker breaker;
    faults(breaker, 4, second);
    is(State::closed, breaker, second);
    faults(breaker, 1, 2 * second);
    is(State::open, breaker, 2 * second);
    is(State::open, breaker, 32 * second - 1);
    is(State::probing, breaker, 32 * second);
  }

  void a_good_answer_begins_the_count_anew() {
    Breaker breaker;
    for (int i = 0; i < 10; ++i) {
      faults(breaker, 4, second);
      goods(breaker, 1, second);
    }
    is(State::closed, breaker, second);
    faults(breaker, 5, second);
    is(State::open, breaker, second);
  }

  void what_asked_nobody_is_no_fault() {
    Breaker breaker;
    for (int i = 0; i < 10; ++i) {
      breaker.fault(second, ModelFault::no_model);
      breaker.fault(second, ModelFault::breaker_open);
    }
    is(State::closed, breaker, second);
    faults(breaker, 5, second);
    breaker.fault(40 * second, ModelFault::breaker_open);
    is(State::probing, breaker, 40 * second);
  }

  void after_the_pause_it_probes_until_three_in_a_row_were_good() {
    Breaker breaker;
    faults(breaker, 5, 0);
    goods(breaker, 2, 30 * second);
    is(State::probing, breaker, 31 * second);
    goods(breaker, 1, 40 * second);
    is(State::closed, breaker, 40 * second);
    faults(breaker, 4, 41 * second);
    is(State::closed, breaker, 41 * second);
  }

  void a_fault_while_probing_opens_it_for_twice_as_long() {
    Breaker breaker;
    faults(breaker, 5, 0);
    goods(breaker, 2, 30 * second);
    faults(breaker, 1, 30 * second);
    CPPUNIT_ASSERT_EQUAL(minute, pause(breaker, 30 * second));
    goods(breaker, 2, 90 * second);
    is(State::probing, breaker, 90 * second);
    goods(breaker, 1, 90 * second);
    is(State::closed, breaker, 90 * second);
  }

  void the_pause_grows_up_to_ten_minutes() {
    Breaker breaker;
    faults(breaker, 5, 0);
    std::int64_t now = 0;
    for (const std::int64_t expected :
         {30 * second, minute, 2 * minute, 4 * minute, 8 * minute, 10 * minute, 10 * minute}) {
      CPPUNIT_ASSERT_EQUAL(expected, pause(breaker, now));
      now += expected;
      faults(breaker, 1, now);
    }
  }

  void answers_while_it_is_open_count_for_nothing() {
    Breaker breaker;
    faults(breaker, 50, 0);
    goods(breaker, 50, second);
    CPPUNIT_ASSERT_EQUAL(30 * second, pause(breaker, 0));
    goods(breaker, 2, 30 * second);
    is(State::probing, breaker, 30 * second);
  }

  void after_ten_minutes_closed_the_pause_is_the_first_again() {
    for (const bool calm : {false, true}) {
      Breaker breaker;
      faults(breaker, 5, 0);
      goods(breaker, 3, 30 * second);
      const std::int64_t again = 30 * second + 10 * minute - (calm ? 0 : 1);
      faults(breaker, 5, again);
      CPPUNIT_ASSERT_EQUAL(calm ? 30 * second : minute, pause(breaker, again));
    }
  }

  void a_site_may_choose_the_first_pause() {
    BreakerLimits limits;
    limits.pause_ms = second;
    Breaker quick(limits);
    faults(quick, 5, 0);
    CPPUNIT_ASSERT_EQUAL(second, pause(quick, 0));
    faults(quick, 1, second);
    CPPUNIT_ASSERT_EQUAL(2 * second, pause(quick, second));
    limits.pause_ms = 20 * minute;
    Breaker slow(limits);
    faults(slow, 5, 0);
    faults(slow, 1, 20 * minute);
    CPPUNIT_ASSERT_EQUAL(20 * minute, pause(slow, 20 * minute));
  }

  void people_are_told_what_it_does_and_why() {
    Breaker breaker;
    const auto says = [&breaker](std::int64_t now, const char *text) {
      CPPUNIT_ASSERT_EQUAL(std::string(text), breaker.text(now));
    };
    says(0, "closed");
    faults(breaker, 1, 0);
    says(0, "closed, after 1 fault: late");
    faults(breaker, 3, 0);
    breaker.fault(0, ModelFault::not_finite);
    says(0, "open for 30 s more after 5 faults in a row: not_finite");
    says(2500, "open for 28 s more after 5 faults in a row: not_finite");
    says(29999, "open for 1 s more after 5 faults in a row: not_finite");
    says(30000, "probing: 0 of 3 good ones, after 5 faults in a row: not_finite");
    goods(breaker, 2, 30000);
    says(30000, "probing: 2 of 3 good ones, after 5 faults in a row: not_finite");
    faults(breaker, 1, 30000);
    says(30000, "open for 60 s more after a fault while probing: late");
    goods(breaker, 3, 90000);
    says(90000, "closed");
    faults(breaker, 2, 90000);
    says(90000, "closed, after 2 faults in a row: late");
  }
};

CPPUNIT_TEST_SUITE_REGISTRATION(BreakerTest);

} // namespace harmony
