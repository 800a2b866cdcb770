#include "src/plan/holds.h"
#include "tests/unit/plan_fixtures.h"

#include <cppunit/extensions/HelperMacros.h>

namespace harmony {

using namespace fixtures;

class HoldsTest : public CppUnit::TestFixture {
  CPPUNIT_TEST_SUITE(HoldsTest);
  CPPUNIT_TEST(a_gang_is_held_since_it_was_first_told_to_wait);
  CPPUNIT_TEST(a_gang_that_is_gone_is_forgotten);
  CPPUNIT_TEST_SUITE_END();

  static Decision decided(std::uint32_t job, Verdict verdict) {
    Decision made;
    made.job = job;
    made.verdict = verdict;
    return made;
  }

  void a_gang_is_held_since_it_was_first_told_to_wait() {
    Snapshot snapshot = cluster(1, "servers6");
    snapshot.pending = {gang(snapshot, 1, 1), gang(snapshot, 2, 1)};
    Holds holds;
    holds.tell(snapshot.pending);
    CPPUNIT_ASSERT_EQUAL(std::time_t{0}, snapshot.pending[0].held_since);
    holds.remember(snapshot, {decided(1, Verdict::wait), decided(2, Verdict::no_room)});
    for (const Verdict next : {Verdict::wait, Verdict::no_room, Verdict::wait}) {
      snapshot.taken += 100;
      holds.tell(snapshot.pending);
      CPPUNIT_ASSERT_EQUAL(now, snapshot.pending[0].held_since);
      CPPUNIT_ASSERT_EQUAL(std::time_t{0}, snapshot.pending[1].held_since);
      holds.remember(snapshot, {decided(1, next), decided(2, Verdict::no_room)});
    }
  }

  void a_gang_that_is_gone_is_forgotten() {
    Snapshot snapshot = cluster(1, "servers6");
    snapshot.pending = {gang(snapshot, 1, 1)};
    Holds holds;
    holds.remember(snapshot, {decided(1, Verdict::wait)});
    CPPUNIT_ASSERT_EQUAL(std::size_t{1}, holds.size());
    snapshot.pending.clear();
    holds.tell(snapshot.pending);
    holds.remember(snapshot, {});
    CPPUNIT_ASSERT_EQUAL(std::size_t{0}, holds.size());
  }
};

CPPUNIT_TEST_SUITE_REGISTRATION(HoldsTest);

} // namespace harmony
