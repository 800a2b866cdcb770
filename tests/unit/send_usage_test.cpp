#include "src/tool/send_usage.h"

#include <cppunit/extensions/HelperMacros.h>

namespace harmony {

class SendUsageTest : public CppUnit::TestFixture {
  CPPUNIT_TEST_SUITE(SendUsageTest);
  CPPUNIT_TEST(nodes_of_a_small_step_send_at_once);
  CPPUNIT_TEST(nodes_of_a_large_step_send_twenty_a_second);
  CPPUNIT_TEST(turns_are_spread_evenly_over_the_time);
  CPPUNIT_TEST_SUITE_END();

  void nodes_of_a_small_step_send_at_once() {
    for (const unsigned nodes : {0U, 1U, 2U, 16U}) {
      CPPUNIT_ASSERT_EQUAL(0LL, static_cast<long long>(longest_pause(nodes).count()));
      CPPUNIT_ASSERT_EQUAL(0LL, static_cast<long long>(random_pause(nodes).count()));
    }
  }

  void nodes_of_a_large_step_send_twenty_a_second() {
    for (const unsigned nodes : {17U, 20U, 1000U, 65536U})
      CPPUNIT_ASSERT_EQUAL(nodes * 1000LL / 20, static_cast<long long>(longest_pause(nodes).count()));
  }

  // 2,000 nodes have 100 s. In each tenth of it 200 are expected, and less than 100 or more than 300 are seven standard
  // deviations away.
  void turns_are_spread_evenly_over_the_time() {
    int tenths[10] = {};
    for (int i = 0; i < 2000; ++i) {
      const long long pause = random_pause(2000).count();
      CPPUNIT_ASSERT(pause >= 0 && pause <= 100000);
      ++tenths[pause == 100000 ? 9 : pause / 10000];
    }
    for (const int seen : tenths) CPPUNIT_ASSERT(seen > 100 && seen < 300);
  }
};

CPPUNIT_TEST_SUITE_REGISTRATION(SendUsageTest);

} // namespace harmony
