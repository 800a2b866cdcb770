// What the emulation of stock selection does, in situations that were seen on a real slurmctld 22.05 or follow from its
// source; tests/live/stock_agreement_test.sh compares hundreds.

#include "src/sim/stock/cons_tres.h"
#include "tests/unit/plan_fixtures.h"

#include <cppunit/extensions/HelperMacros.h>

#include <set>

namespace harmony {

using namespace fixtures;

namespace {

std::string choice(const Snapshot &snapshot, const Gang &asked) {
  const auto plan = cons_tres_choice(Cluster(snapshot), asked);
  return plan ? nodes_text(*plan) : "nothing";
}

std::vector<int> gpus_on(const Plan &plan, int node) {
  std::vector<int> gpus;
  for (const Placement &placement : plan.placements)
    if (placement.node == node)
      for (const int each : harmony::each(placement.gpus)) gpus.push_back(each);
  return gpus;
}

} // namespace

class ConsTresTest : public CppUnit::TestFixture {
  CPPUNIT_TEST_SUITE(ConsTresTest);
  CPPUNIT_TEST(the_first_node_that_has_all_is_taken);
  CPPUNIT_TEST(nodes_with_more_of_the_gpus_come_first);
  CPPUNIT_TEST(a_lower_weight_comes_before_everything);
  CPPUNIT_TEST(without_gpus_the_tightest_node_is_taken);
  CPPUNIT_TEST(tasks_and_gpus_are_divided_independently);
  CPPUNIT_TEST(gpus_per_task_follow_the_tasks);
  CPPUNIT_TEST(gpus_per_node_are_on_every_node);
  CPPUNIT_TEST(components_never_share_a_node);
  CPPUNIT_TEST(what_does_not_fit_is_not_placed);
  CPPUNIT_TEST(nothing_is_given_twice_and_all_tasks_are_placed);
  CPPUNIT_TEST_SUITE_END();

  void the_first_node_that_has_all_is_taken() {
    Snapshot snapshot = cluster(3, "pcie8");
    CPPUNIT_ASSERT_EQUAL(std::string("n0 4+2"), choice(snapshot, gang(snapshot, 1, 4, 2)));
    run(snapshot, 90, {{0, {0, 1, 2, 3, 4, 5}}});
    CPPUNIT_ASSERT_EQUAL(std::string("n1 4+0"), choice(snapshot, gang(snapshot, 1, 4)));
  }

  void nodes_with_more_of_the_gpus_come_first() {
    Snapshot snapshot = cluster(3, "pcie8");
    run(snapshot, 90, {{0, {0, 1, 2, 3}}});
    run(snapshot, 91, {{1, {0, 1}}});
    // Neither n0 nor n1 has eight.
    CPPUNIT_ASSERT_EQUAL(std::string("n2 8+0"), choice(snapshot, gang(snapshot, 1, 8)));
    // n1 and n2 do not differ for six, and n1 has fewer cores.
    CPPUNIT_ASSERT_EQUAL(std::string("n1 6+0"), choice(snapshot, gang(snapshot, 1, 6)));
  }

  void a_lower_weight_comes_before_everything() {
    Snapshot snapshot = cluster(3, "pcie8");
    snapshot.nodes[0].weight = 3;
    snapshot.nodes[1].weight = 2;
    CPPUNIT_ASSERT_EQUAL(std::string("n2 2+0"), choice(snapshot, gang(snapshot, 1, 2)));
  }

  void without_gpus_the_tightest_node_is_taken() {
    Snapshot snapshot = cluster(3, "pcie8");
    run(snapshot, 90, {{1, {}, 20}});
    Gang cpus = gang(snapshot, 1, 4);
    cpus.components.front().gpus.per_job = 0;
    CPPUNIT_ASSERT_EQUAL(std::string("n1 4+0"), choice(snapshot, cpus));
  }

  // All CPUs are wanted from the first node, so a second one that is needed for its GPUs gets just one task.
  void tasks_and_gpus_are_divided_independently() {
    Snapshot snapshot = cluster(2, "pcie8");
    run(snapshot, 90, {{0, {0, 1, 2, 3}}});
    run(snapshot, 91, {{1, {0, 1, 2, 3}}});
    const auto plan = cons_tres_choice(Cluster(snapshot), gang(snapshot, 1, 6));
    CPPUNIT_ASSERT(plan.has_value());
    CPPUNIT_ASSERT_EQUAL(std::string("n0 5+0, n1 1+0"), nodes_text(*plan));
    CPPUNIT_ASSERT_EQUAL(std::size_t{4}, gpus_on(*plan, 0).size());
    CPPUNIT_ASSERT_EQUAL(std::size_t{2}, gpus_on(*plan, 1).size());
  }

  void gpus_per_task_follow_the_tasks() {
    Snapshot snapshot = cluster(2, "pcie8");
    run(snapshot, 90, {{0, {0, 1, 2, 3}}});
    run(snapshot, 91, {{1, {0, 1, 2, 3}}});
    Gang asked = gang(snapshot, 1, 6);
    asked.components.front().gpus = {};
    asked.components.front().gpus.per_task = 1;
    const auto plan = cons_tres_choice(Cluster(snapshot), asked);
    CPPUNIT_ASSERT(plan.has_value());
    for (const Placement &placement : plan->placements) CPPUNIT_ASSERT_EQUAL(placement.workers, placement.gpus.count());
  }

  void gpus_per_node_are_on_every_node() {
    Snapshot snapshot = cluster(3, "pcie8");
    Gang asked = gang(snapshot, 1, 4);
    asked.components.front().gpus = {};
    asked.components.front().gpus.per_node = 3;
    asked.components.front().min_nodes = 2;
    asked.components.front().max_nodes = 2;
    const auto plan = cons_tres_choice(Cluster(snapshot), asked);
    CPPUNIT_ASSERT(plan.has_value());
    CPPUNIT_ASSERT_EQUAL(std::size_t{2}, plan->placements.size());
    for (const Placement &placement : plan->placements) CPPUNIT_ASSERT_EQUAL(3, placement.gpus.count());
  }

  void components_never_share_a_node() {
    Snapshot snapshot = cluster(2, "pcie8");
    const auto plan = cons_tres_choice(Cluster(snapshot), hetjob(snapshot, 1, 4, 2));
    CPPUNIT_ASSERT(plan.has_value());
    CPPUNIT_ASSERT_EQUAL(std::string("n0 4+0, n1 0+2"), nodes_text(*plan));
    const Snapshot one = cluster(1, "pcie8");
    CPPUNIT_ASSERT_EQUAL(std::string("nothing"), choice(one, hetjob(one, 1, 4, 2)));
  }

  void what_does_not_fit_is_not_placed() {
    Snapshot snapshot = cluster(2, "pcie8");
    CPPUNIT_ASSERT_EQUAL(std::string("nothing"), choice(snapshot, gang(snapshot, 1, 17)));
    snapshot.nodes[1].usable = false;
    CPPUNIT_ASSERT_EQUAL(std::string("nothing"), choice(snapshot, gang(snapshot, 1, 9)));
    Gang wide = gang(snapshot, 1, 2);
    wide.components.front().cpus_per_task = 33;
    CPPUNIT_ASSERT_EQUAL(std::string("nothing"), choice(snapshot, wide));
  }

  void nothing_is_given_twice_and_all_tasks_are_placed() {
    for (const char *profile : {"pcie8", "servers6", "dgx1"}) {
      Snapshot snapshot = cluster(6, profile);
      Cluster filling(snapshot);
      for (std::uint32_t job = 1; job < 40; ++job) {
        Gang asked = gang(snapshot, job, 1 + static_cast<int>(job * 7 % 9), static_cast<int>(job % 3));
        asked.components.front().cpus_per_task = 1 + static_cast<int>(job % 2);
        const auto plan = cons_tres_choice(filling, asked);
        if (!plan) continue;
        int workers = 0, ps = 0, gpus = 0;
        for (const Placement &placement : plan->placements) {
          const NodeState &node = filling.node(placement.node);
          CPPUNIT_ASSERT(node.free_cores.contains(placement.cores) && node.free_gpus.contains(placement.gpus));
          CPPUNIT_ASSERT_EQUAL(placement.tasks() * asked.components.front().cpus_per_task, placement.cores.count());
          workers += placement.workers;
          ps += placement.ps;
          gpus += placement.gpus.count();
        }
        CPPUNIT_ASSERT_EQUAL(asked.workers(), workers);
        CPPUNIT_ASSERT_EQUAL(asked.ps(), ps);
        CPPUNIT_ASSERT_EQUAL(asked.workers(), gpus);
        filling.start(asked, *plan);
      }
    }
  }
};
CPPUNIT_TEST_SUITE_REGISTRATION(ConsTresTest);

} // namespace harmony
