#include "src/sim/truth/tables.h"

#include "tests/unit/contention_fixtures.h"
#include "tests/unit/topology_tables.h"

#include <cppunit/extensions/HelperMacros.h>

namespace harmony {

using namespace fixtures;

class TablesTest : public CppUnit::TestFixture {
  CPPUNIT_TEST_SUITE(TablesTest);
  CPPUNIT_TEST(measured_speeds_override_the_mechanics_exactly);
  CPPUNIT_TEST(types_without_a_row_go_as_the_mechanics_say);
  CPPUNIT_TEST(between_and_beyond_the_rows_the_nearest_counts);
  CPPUNIT_TEST(of_two_rows_as_near_the_smaller_counts);
  CPPUNIT_TEST(a_pair_has_its_ratio_each_way);
  CPPUNIT_TEST(a_pair_without_a_row_has_no_effect);
  CPPUNIT_TEST(mechanics_have_no_say_between_neighbours);
  CPPUNIT_TEST(a_neighbour_counts_once_however_many_nodes_are_shared);
  CPPUNIT_TEST(the_more_specific_row_counts);
  CPPUNIT_TEST(three_jobs_are_combined_by_the_rule);
  CPPUNIT_TEST(additive_leaves_a_twentieth_at_least);
  CPPUNIT_TEST(ends_give_back_what_starts_took);
  CPPUNIT_TEST(the_order_of_starts_does_not_matter);
  CPPUNIT_TEST(start_and_end_name_the_neighbours);
  CPPUNIT_TEST(the_title_says_what_is_from_where);
  CPPUNIT_TEST(bad_rows_are_refused_with_file_and_line);
  CPPUNIT_TEST_SUITE_END();

  static std::unique_ptr<Truth> mechanics() { return make_contention(machines(8, "pcie8"), JobTypes()); }
  static std::unique_ptr<Truth> tables(const std::string &speeds, const std::string &pairs,
                                       Combine combine = Combine::product) {
    const TemporaryFile speed_file("type,workers,nodes,speed\n" + speeds),
        pair_file("victim,aggressor,ratio\n" + pairs);
    return make_tables(speed_file.path, pair_file.path, combine, mechanics());
  }
  static Occupant on(const char *type, int node, int gpu) { return job(type, {tasks(node, {gpu})}); }

  void measured_speeds_override_the_mechanics_exactly() {
    const auto truth = tables("vgg16,4,2,0.123456789\nvgg16,4,1,0.5\n", "");
    CPPUNIT_ASSERT_EQUAL(0.123456789, truth->alone(evenly("vgg16", 2, 2)));
    CPPUNIT_ASSERT_EQUAL(0.5, truth->alone(evenly("vgg16", 1, 4)));
    truth->start(0, evenly("vgg16", 2, 2));
    CPPUNIT_ASSERT_EQUAL(0.123456789, truth->speed(0));
  }

  void types_without_a_row_go_as_the_mechanics_say() {
    const auto truth = tables("vgg16,4,2,0.1\n", "");
    CPPUNIT_ASSERT_EQUAL(mechanics()->alone(evenly("gpt2", 2, 2)), truth->alone(evenly("gpt2", 2, 2)));
    const auto without = make_tables("", "", Combine::min, mechanics());
    CPPUNIT_ASSERT_EQUAL(mechanics()->alone(evenly("vgg16", 2, 2)), without->alone(evenly("vgg16", 2, 2)));
  }

  void between_and_beyond_the_rows_the_nearest_counts() {
    const auto truth = tables("t,1,1,1\nt,4,1,3\nt,4,2,2\nt,8,4,5\n", "");
    CPPUNIT_ASSERT_EQUAL(5.0, truth->alone(evenly("t", 8, 8))); // beyond: not above the best
    CPPUNIT_ASSERT_EQUAL(1.0, truth->alone(evenly("t", 1, 2))); // 2 is nearer to 1 than to 4
    CPPUNIT_ASSERT_EQUAL(3.0, truth->alone(evenly("t", 1, 8))); // nodes go before workers
    CPPUNIT_ASSERT_EQUAL(2.0, truth->alone(evenly("t", 2, 4))); // 8 workers on 2 nodes
  }

  void of_two_rows_as_near_the_smaller_counts() {
    const auto truth = tables("t,6,3,9\nt,2,1,1\nt,4,2,4\nt,8,2,8\n", "");
    CPPUNIT_ASSERT_EQUAL(4.0, truth->alone(evenly("t", 2, 3))); // 6 workers: 4 or 8
    const auto gap = tables("t,4,3,9\nt,4,1,1\n", "");
    CPPUNIT_ASSERT_EQUAL(1.0, gap->alone(evenly("t", 2, 2)));
  }

  void a_pair_has_its_ratio_each_way() {
    const auto truth = tables("a,1,1,10\nb,1,1,20\n", "a,b,0.5\nb,a,0.75\n");
    truth->start(0, on("a", 0, 0));
    truth->start(1, on("b", 0, 1));
    CPPUNIT_ASSERT_EQUAL(5.0, truth->speed(0));
    CPPUNIT_ASSERT_EQUAL(15.0, truth->speed(1));
    truth->start(2, on("b", 1, 1)); // elsewhere
    CPPUNIT_ASSERT_EQUAL(5.0, truth->speed(0));
    CPPUNIT_ASSERT_EQUAL(20.0, truth->speed(2));
  }

  void a_pair_without_a_row_has_no_effect() {
    const auto truth = tables("a,1,1,10\nb,1,1,20\n", "a,b,0.5\n");
    truth->start(0, on("b", 0, 0));
    truth->start(1, on("a", 0, 1));
    truth->start(2, on("b", 0, 2));
    CPPUNIT_ASSERT_EQUAL(20.0, truth->speed(0));
    CPPUNIT_ASSERT_EQUAL(20.0, truth->speed(2));
  }

  void mechanics_have_no_say_between_neighbours() {
    const auto truth = make_tables("", "", Combine::product, make_contention(machines(2, "servers6"), JobTypes()));
    const Occupant one = job("vgg16", {tasks(0, {0}), tasks(1, {0})}),
                   other = job("vgg16", {tasks(0, {1}), tasks(1, {1})});
    truth->start(0, one);
    truth->start(1, other);
    CPPUNIT_ASSERT_EQUAL(truth->alone(one), truth->speed(0));
  }

  void a_neighbour_counts_once_however_many_nodes_are_shared() {
    const auto truth = tables("a,2,2,10\n", "a,a,0.5\n");
    truth->start(0, evenly("a", 2, 1));
    truth->start(1, evenly("a", 2, 1, 1));
    CPPUNIT_ASSERT_EQUAL(5.0, truth->speed(0));
  }

  void the_more_specific_row_counts() {
    const auto of_pair = [](const std::string &rows) {
      const auto truth = tables("a,2,2,1\nb,2,2,1\n", rows);
      truth->start(0, evenly("a", 2, 1));
      truth->start(1, evenly("b", 2, 1, 1));
      return truth->speed(0);
    };
    const std::string types = "a,b,0.9\n", aggressor = "a,b:2:2,0.8\n", victim = "a:2:2,b,0.7\n",
                      both = "a:2:2,b:2:2,0.6\n";
    CPPUNIT_ASSERT_EQUAL(0.9, of_pair(types));
    CPPUNIT_ASSERT_EQUAL(0.8, of_pair(types + aggressor));
    CPPUNIT_ASSERT_EQUAL(0.7, of_pair(types + aggressor + victim));
    CPPUNIT_ASSERT_EQUAL(0.6, of_pair(both + types + aggressor + victim));
    CPPUNIT_ASSERT_EQUAL(0.9, of_pair(types + "a:2:1,b,0.1\na:1:2,b,0.1\na,b:4:2,0.1\n")); // of other sizes
  }

  void three_jobs_are_combined_by_the_rule() {
    const auto beside_two = [](Combine combine) {
      const auto truth = tables("a,1,1,1\n", "a,b,0.5\na,c,0.75\n", combine);
      truth->start(0, on("a", 0, 0));
      truth->start(1, on("b", 0, 1));
      truth->start(2, on("c", 0, 2));
      return truth->speed(0);
    };
    CPPUNIT_ASSERT_EQUAL(0.375, beside_two(Combine::product));
    CPPUNIT_ASSERT_EQUAL(0.5, beside_two(Combine::min));
    CPPUNIT_ASSERT_EQUAL(0.25, beside_two(Combine::additive));
  }

  void additive_leaves_a_twentieth_at_least() {
    const auto truth = tables("a,1,1,1\n", "a,a,0.3\n", Combine::additive);
    for (int i = 0; i < 3; ++i) truth->start(i, on("a", 0, i));
    CPPUNIT_ASSERT_EQUAL(0.05, truth->speed(0));
  }

  void ends_give_back_what_starts_took() {
    const auto truth = tables("a,1,1,0.1\n", "a,b,0.7\na,c,0.3\na,d,0.9\n");
    truth->start(0, on("a", 0, 0));
    truth->start(1, on("b", 0, 1));
    const double before = truth->speed(0);
    truth->start(2, on("c", 0, 2));
    truth->start(3, on("d", 0, 3));
    truth->end(3);
    truth->end(2);
    CPPUNIT_ASSERT(truth->speed(0) == before);
  }

  void the_order_of_starts_does_not_matter() {
    for (const Combine combine : {Combine::product, Combine::min, Combine::additive}) {
      const auto truth = tables("a,1,1,0.1\n", "a,b,0.7\na,c,0.83\na,d,0.91\na,e,0.97\n", combine);
      const std::vector<Occupant> jobs{on("a", 0, 0), on("b", 0, 1), on("c", 0, 2), on("d", 0, 3), on("e", 0, 4)};
      const auto back = truth->empty();
      truth->start(0, jobs[0]);
      back->start(0, jobs[0]);
      for (int i = 1; i < 5; ++i) truth->start(i, jobs[static_cast<std::size_t>(i)]);
      for (int i = 4; i > 0; --i) back->start(i, jobs[static_cast<std::size_t>(i)]);
      CPPUNIT_ASSERT(truth->speed(0) == back->speed(0));
    }
  }

  void start_and_end_name_the_neighbours() {
    const auto truth = tables("a,1,1,1\n", "");
    truth->start(4, on("a", 0, 0));
    truth->start(2, on("a", 1, 0));
    truth->start(3, job("a", {tasks(0, {1}), tasks(1, {1})}));
    CPPUNIT_ASSERT((truth->touched() == std::vector<int>{2, 3, 4}));
    truth->end(4);
    CPPUNIT_ASSERT(truth->touched() == std::vector<int>{3});
  }

  void the_title_says_what_is_from_where() {
    CPPUNIT_ASSERT_EQUAL(std::string("tables (pairs combined by min)"), tables("", "", Combine::min)->title());
    const TemporaryFile pairs("victim,aggressor,ratio\n");
    CPPUNIT_ASSERT_EQUAL(std::string("tables (speeds alone mechanistic, pairs combined by additive)"),
                         make_tables("", pairs.path, Combine::additive, mechanics())->title());
  }

  static void assert_refused(const std::string &speeds, const std::string &pairs, const std::string &problem) {
    try {
      tables(speeds, pairs);
    } catch (const BadInput &bad) {
      CPPUNIT_ASSERT_MESSAGE(bad.what(), std::string(bad.what()).find(problem) != std::string::npos);
      return;
    }
    CPPUNIT_FAIL("was not refused: " + problem);
  }

  void bad_rows_are_refused_with_file_and_line() {
    assert_refused("a,1,1,1\na,1,1,2\n", "", ":3: a with 1 workers on 1 nodes was there before");
    assert_refused("a,0,1,1\n", "", ":2: ");
    assert_refused("a,1,1,\n", "", ":2: workers, nodes and speed have to be given");
    assert_refused("a,1,1,0\n", "", ":2: ");
    assert_refused("A,1,1,1\n", "", ":2: type \"A\" is not 1 to 32 of");
    assert_refused("", "a,b,0.5\na,b,0.6\n", ":3: a beside b was there before");
    assert_refused("", "a:04:1,b,0.5\na:4:01,b,0.6\n", ":3: a:4:1 beside b was there before");
    assert_refused("", "a:1,b,0.5\n", ":2: victim \"a:1\" is neither a type nor type:workers:nodes");
    assert_refused("", "a,b:1:0,0.5\n", ":2: aggressor \"b:1:0\" is neither");
    assert_refused("", "a,b:1:1:1,0.5\n", ":2: aggressor \"b:1:1:1\" is neither");
    assert_refused("", "a,b,nan\n", ":2: ");
    assert_refused("", "a,b,\n", ":2: the ratio has to be given");
    assert_refused("", "a,b,0\n", ":2: ");
  }
};
CPPUNIT_TEST_SUITE_REGISTRATION(TablesTest);

} // namespace harmony
