#include "src/sim/truth/shared_resource.h"

#include "src/sim/random.h"

#include <cppunit/extensions/HelperMacros.h>

#include <algorithm>
#include <cmath>

namespace harmony {
namespace {

SharedResource shared(double capacity, const std::vector<ResourceClaim> &claims) {
  SharedResource made(capacity);
  for (const ResourceClaim &each : claims) made.add(each);
  return made;
}

double level_of(const SharedResource &share, int key) {
  for (std::size_t i = 0; i < share.claims().size(); ++i)
    if (share.claims()[i].key == key) return share.level(i);
  return -1;
}

// The same in another way: the water level at which all that is taken is the capacity, by bisection.
double level_by_bisection(double capacity, const std::vector<ResourceClaim> &claims, int key) {
  double low = 0, high = capacity, weight = 0;
  for (int i = 0; i < 200; ++i) {
    const double water = (low + high) / 2; // a task's
    double taken = 0;
    for (const ResourceClaim &each : claims) {
      taken += each.key == key ? each.weight * water : std::min(each.demand, each.weight * water);
      if (each.key == key) weight = each.weight;
    }
    (taken > capacity ? high : low) = water;
  }
  return weight * (low + high) / 2;
}

std::vector<ResourceClaim> random_claims(Random &random) {
  std::vector<ResourceClaim> claims;
  const int count = 1 + random.below(9);
  for (int key = 0; key < count; ++key)
    claims.push_back({random.below(3) ? random.exponential(30) + 0.001 : 10.0, 1.0 + random.below(4), key, 0});
  return claims;
}

} // namespace

class SharedResourceTest : public CppUnit::TestFixture {
  CPPUNIT_TEST_SUITE(SharedResourceTest);
  CPPUNIT_TEST(one_alone_has_all_of_it);
  CPPUNIT_TEST(what_others_do_not_want_is_left_over);
  CPPUNIT_TEST(two_who_want_all_have_half_each);
  CPPUNIT_TEST(a_job_with_more_tasks_there_has_more);
  CPPUNIT_TEST(small_demands_are_met_before_large_ones_share_the_rest);
  CPPUNIT_TEST(filling_and_bisection_agree);
  CPPUNIT_TEST(levels_do_not_depend_on_who_came_first);
  CPPUNIT_TEST(who_left_leaves_no_trace);
  CPPUNIT_TEST_SUITE_END();

  void one_alone_has_all_of_it() {
    // To the last bit, whatever its weight.
    for (int weight = 1; weight < 50; ++weight)
      CPPUNIT_ASSERT(level_of(shared(0.1, {{5, static_cast<double>(weight), 7, 0}}), 7) == 0.1);
  }

  void what_others_do_not_want_is_left_over() {
    CPPUNIT_ASSERT_DOUBLES_EQUAL(70, level_of(shared(100, {{500, 1, 0, 0}, {30, 1, 1, 0}}), 0), 1e-12);
    CPPUNIT_ASSERT_DOUBLES_EQUAL(50, level_of(shared(100, {{500, 1, 0, 0}, {30, 1, 1, 0}}), 1), 1e-12);
  }

  void two_who_want_all_have_half_each() {
    const SharedResource share = shared(100, {{500, 1, 0, 0}, {900, 1, 1, 0}});
    CPPUNIT_ASSERT_DOUBLES_EQUAL(50, level_of(share, 0), 1e-12);
    CPPUNIT_ASSERT_DOUBLES_EQUAL(50, level_of(share, 1), 1e-12);
  }

  void a_job_with_more_tasks_there_has_more() {
    const SharedResource share = shared(100, {{500, 3, 0, 0}, {900, 1, 1, 0}});
    CPPUNIT_ASSERT_DOUBLES_EQUAL(75, level_of(share, 0), 1e-12);
    CPPUNIT_ASSERT_DOUBLES_EQUAL(25, level_of(share, 1), 1e-12);
  }

  void small_demands_are_met_before_large_ones_share_the_rest() {
    const SharedResource share = shared(100, {{90, 1, 0, 0}, {10, 1, 1, 0}, {80, 1, 2, 0}});
    CPPUNIT_ASSERT_DOUBLES_EQUAL(45, level_of(share, 0), 1e-12);
    CPPUNIT_ASSERT_DOUBLES_EQUAL(45, level_of(share, 2), 1e-12);
    CPPUNIT_ASSERT_DOUBLES_EQUAL(100.0 / 3, level_of(share, 1), 1e-12);
  }

  void filling_and_bisection_agree() {
    Random random(1, "shares");
    for (int i = 0; i < 5000; ++i) {
      const std::vector<ResourceClaim> claims = random_claims(random);
      const double capacity = 1 + 200 * random.unit();
      const SharedResource share = shared(capacity, claims);
      for (const ResourceClaim &each : claims)
        CPPUNIT_ASSERT_DOUBLES_EQUAL(level_by_bisection(capacity, claims, each.key), level_of(share, each.key), 1e-9);
    }
  }

  void levels_do_not_depend_on_who_came_first() {
    Random random(2, "shares");
    for (int i = 0; i < 1000; ++i) {
      std::vector<ResourceClaim> claims = random_claims(random);
      const SharedResource share = shared(77.7, claims);
      std::reverse(claims.begin(), claims.end());
      const SharedResource other = shared(77.7, claims);
      for (const ResourceClaim &each : claims) CPPUNIT_ASSERT(level_of(share, each.key) == level_of(other, each.key));
    }
  }

  void who_left_leaves_no_trace() {
    Random random(3, "shares");
    for (int i = 0; i < 1000; ++i) {
      const std::vector<ResourceClaim> claims = random_claims(random);
      const SharedResource before = shared(77.7, claims);
      SharedResource after = before;
      after.add({random.exponential(40), 2, 99, 0});
      after.remove(99);
      for (const ResourceClaim &each : claims) CPPUNIT_ASSERT(level_of(before, each.key) == level_of(after, each.key));
    }
  }
};
CPPUNIT_TEST_SUITE_REGISTRATION(SharedResourceTest);

} // namespace harmony
