#include "src/plan/backfill.h"
#include "src/sim/floor.h"
#include "tests/unit/sim_fixtures.h"

#include <cppunit/extensions/HelperMacros.h>

#include <functional>

namespace harmony {

using namespace fixtures;

class FloorTest : public CppUnit::TestFixture {
  CPPUNIT_TEST_SUITE(FloorTest);
  CPPUNIT_TEST(what_a_gang_holds_is_free_again_at_its_end);
  CPPUNIT_TEST(what_is_held_is_not_given_again);
  CPPUNIT_TEST(the_floor_is_what_the_planner_makes_of_the_same_starts);
  CPPUNIT_TEST(a_gang_without_room_is_promised_the_nodes_that_are_free_first);
  CPPUNIT_TEST(promises_are_of_whole_nodes_and_of_different_ones);
  CPPUNIT_TEST(a_gang_of_a_gpu_model_is_promised_nodes_that_have_it);
  CPPUNIT_TEST(gpus_by_node_whole_nodes_and_tasks_a_node_count_in_promises);
  CPPUNIT_TEST(a_gpu_without_a_name_is_of_no_model);
  CPPUNIT_TEST(gangs_that_started_in_the_round_end_too);
  CPPUNIT_TEST(ps_of_a_component_of_their_own_are_promised_nodes_without_gpus);
  CPPUNIT_TEST_SUITE_END();

  static Plan planned(const Snapshot &snapshot, const Gang &gang) {
    const Cluster cluster(snapshot);
    return make_policy("pack")->propose(cluster, gang, false).plan;
  }
  static void start(Floor &floor, const Gang &gang, std::time_t ends = now + 1000) {
    floor.start(gang, planned(floor.snapshot(), gang), ends);
  }
  static Floor floor(int nodes) {
    Floor made(sim_cluster(nodes, "pcie8"));
    made.snapshot().taken = now;
    return made;
  }

  void what_a_gang_holds_is_free_again_at_its_end() {
    Floor floor = FloorTest::floor(2);
    Gang with_memory = gang(floor.snapshot(), 1, 4, 2);
    with_memory.components[0].memory_per_cpu_mb = 1000;
    const std::vector<NodeState> before = floor.snapshot().nodes;
    start(floor, with_memory);
    start(floor, gang(floor.snapshot(), 2, 6));
    CPPUNIT_ASSERT_EQUAL(10, floor.gpus_allocated());
    CPPUNIT_ASSERT_EQUAL(6, floor.gpus_stranded());
    floor.end(1);
    CPPUNIT_ASSERT_EQUAL(std::uint32_t{2}, floor.snapshot().running.front().job);
    CPPUNIT_ASSERT_EQUAL(0, floor.snapshot().nodes[1].tenants.front().running);
    floor.end(2);
    for (std::size_t i = 0; i < before.size(); ++i) {
      CPPUNIT_ASSERT(before[i].free_cores == floor.snapshot().nodes[i].free_cores);
      CPPUNIT_ASSERT(before[i].free_gpus == floor.snapshot().nodes[i].free_gpus);
      CPPUNIT_ASSERT_EQUAL(before[i].free_memory_mb, floor.snapshot().nodes[i].free_memory_mb);
      CPPUNIT_ASSERT(floor.snapshot().nodes[i].tenants.empty());
    }
    CPPUNIT_ASSERT_EQUAL(0, floor.gpus_allocated() + floor.gpus_stranded());
  }

  void what_is_held_is_not_given_again() {
    Floor floor = FloorTest::floor(1);
    const Gang one = gang(floor.snapshot(), 1, 4);
    const Plan plan = planned(floor.snapshot(), one);
    floor.start(one, plan, now + 10);
    CPPUNIT_ASSERT_THROW(floor.start(gang(floor.snapshot(), 2, 4), plan, now + 10), std::logic_error);
    CPPUNIT_ASSERT_THROW(floor.end(7), std::logic_error);
  }

  void the_floor_is_what_the_planner_makes_of_the_same_starts() {
    Floor floor = FloorTest::floor(3);
    const Snapshot before = floor.snapshot();
    Cluster cluster(before);
    for (std::uint32_t job = 1; job <= 4; ++job) {
      const Gang one = job == 3 ? hetjob(before, job, 3, 2) : gang(before, job, 3 + static_cast<int>(job), 1);
      const Plan plan = make_policy("pack")->propose(cluster, one, false).plan;
      cluster.start(one, plan);
      floor.start(one, plan, now);
    }
    for (int i = 0; i < cluster.size(); ++i) {
      const NodeState &planned = cluster.node(i), &held = floor.snapshot().nodes[static_cast<std::size_t>(i)];
      CPPUNIT_ASSERT(planned.free_cores == held.free_cores && planned.free_gpus == held.free_gpus);
      CPPUNIT_ASSERT_EQUAL(planned.tenants.size(), held.tenants.size());
      for (std::size_t t = 0; t < held.tenants.size(); ++t) {
        CPPUNIT_ASSERT_EQUAL(planned.tenants[t].workers, held.tenants[t].workers);
        CPPUNIT_ASSERT_EQUAL(planned.tenants[t].cores, held.tenants[t].cores);
      }
    }
    for (int i = 0; i < 4; ++i) {
      const Running &held = floor.snapshot().running[static_cast<std::size_t>(i)];
      Tenant tenant;
      tenant.running = -1 - i;
      CPPUNIT_ASSERT_EQUAL(cluster.job_of(tenant).nodes, held.nodes);
    }
  }

  void a_gang_without_room_is_promised_the_nodes_that_are_free_first() {
    Floor floor = FloorTest::floor(2);
    start(floor, gang(floor.snapshot(), 1, 8), now + 500);
    start(floor, gang(floor.snapshot(), 2, 8), now + 300);
    Backfill backfill(floor.snapshot(), 8);
    backfill.promise(gang(floor.snapshot(), 3, 8));
    CPPUNIT_ASSERT_EQUAL(std::size_t{1}, backfill.promises().size());
    CPPUNIT_ASSERT_EQUAL(now + 300, backfill.promises()[0].from);
    CPPUNIT_ASSERT_EQUAL(1, backfill.promises()[0].nodes.first());
  }

  void promises_are_of_whole_nodes_and_of_different_ones() {
    Floor floor = FloorTest::floor(2);
    start(floor, gang(floor.snapshot(), 1, 6), now + 500);
    start(floor, gang(floor.snapshot(), 2, 6), now + 300);
    Backfill backfill(floor.snapshot(), 8);
    backfill.promise(gang(floor.snapshot(), 3, 8));
    backfill.promise(gang(floor.snapshot(), 4, 8));
    CPPUNIT_ASSERT_EQUAL(std::size_t{2}, backfill.promises().size());
    CPPUNIT_ASSERT(!backfill.promises()[0].nodes.overlaps(backfill.promises()[1].nodes));
    Gang small = gang(floor.snapshot(), 5, 1);
    small.time_limit_min = 60;
    CPPUNIT_ASSERT(!backfill.may_start(small, planned(floor.snapshot(), small)));
    CPPUNIT_ASSERT(!backfill.nodes_for(small, all_nodes(floor.snapshot())).any());
    small.time_limit_min = 5; // gone at the very moment
    CPPUNIT_ASSERT(backfill.may_start(small, planned(floor.snapshot(), small)));
    backfill.promise(gang(floor.snapshot(), 6, 8)); // no node is left for it
    CPPUNIT_ASSERT_EQUAL(std::size_t{2}, backfill.promises().size());
  }

  void a_gang_of_a_gpu_model_is_promised_nodes_that_have_it() {
    Floor floor = FloorTest::floor(2);
    for (std::string &model : floor.snapshot().nodes[1].gpu_models) model = "other";
    start(floor, gang(floor.snapshot(), 1, 8), now + 100);
    start(floor, gang(floor.snapshot(), 2, 8), now + 900);
    Gang picky = gang(floor.snapshot(), 3, 2);
    picky.components[0].gpus.model = "other";
    Backfill backfill(floor.snapshot(), 8);
    backfill.promise(picky);
    CPPUNIT_ASSERT_EQUAL(now + 900, backfill.promises().at(0).from);
    CPPUNIT_ASSERT_EQUAL(1, backfill.promises()[0].nodes.first());
  }

  void gpus_by_node_whole_nodes_and_tasks_a_node_count_in_promises() {
    Floor floor = FloorTest::floor(2);
    start(floor, gang(floor.snapshot(), 1, 8), now + 500);
    start(floor, gang(floor.snapshot(), 2, 4), now + 300);
    start(floor, gang(floor.snapshot(), 3, 4), now + 400);
    const auto from = [&](const std::function<void(Component &)> &change) {
      Gang asks = gang(floor.snapshot(), 4, 2);
      asks.components[0].gpus = {};
      change(asks.components[0]);
      Backfill backfill(floor.snapshot(), 8);
      backfill.promise(asks);
      return backfill.promises().empty() ? 0 : backfill.promises()[0].from - now;
    };
    CPPUNIT_ASSERT_EQUAL(std::time_t{300}, from([](Component &its) { its.gpus.per_node = 4; }));
    CPPUNIT_ASSERT_EQUAL(std::time_t{400}, from([](Component &its) { its.gpus.per_node = 8; }));
    CPPUNIT_ASSERT_EQUAL(std::time_t{400}, from([](Component &its) { its.whole_nodes = true; }));
    CPPUNIT_ASSERT_EQUAL(std::time_t{500}, from([](Component &its) {
                           its.gpus.per_node = 8;
                           its.tasks_per_node = 1;
                         }));
  }

  void a_gpu_without_a_name_is_of_no_model() {
    Floor floor = FloorTest::floor(1);
    start(floor, gang(floor.snapshot(), 1, 8), now + 100);
    floor.snapshot().nodes[0].gpu_models.resize(4); // gres.conf has fewer now
    for (std::string &model : floor.snapshot().nodes[0].gpu_models) model = "other";
    Gang picky = gang(floor.snapshot(), 2, 5);
    picky.components[0].gpus.model = "other";
    Backfill backfill(floor.snapshot(), 8);
    backfill.promise(picky);
    CPPUNIT_ASSERT(backfill.promises().empty());
  }

  void gangs_that_started_in_the_round_end_too() {
    Floor floor = FloorTest::floor(2);
    start(floor, gang(floor.snapshot(), 1, 8), now + 900);
    Backfill backfill(floor.snapshot(), 8);
    Gang picky = gang(floor.snapshot(), 2, 8);
    picky.components[0].eligible.clear(1);
    backfill.promise(picky); // the node of the first
    CPPUNIT_ASSERT_EQUAL(now + 900, backfill.promises().at(0).from);
    start(floor, gang(floor.snapshot(), 3, 8), now + 300);
    backfill.promise(gang(floor.snapshot(), 4, 8));
    CPPUNIT_ASSERT_EQUAL(now + 300, backfill.promises().at(1).from);
  }

  void ps_of_a_component_of_their_own_are_promised_nodes_without_gpus() {
    SimCluster mixed;
    mixed.nodes = cluster({"servers6", "nogpu"}).nodes;
    Floor floor(mixed);
    floor.snapshot().taken = now;
    start(floor, gang(floor.snapshot(), 1, 2), now + 100);
    Gang apart = hetjob(floor.snapshot(), 2, 2, 3);
    apart.components[0].cpus_per_task = 4; // its workers leave no core for PS beside them
    Backfill backfill(floor.snapshot(), 8);
    backfill.promise(apart);
    CPPUNIT_ASSERT_EQUAL(std::size_t{1}, backfill.promises().size());
    CPPUNIT_ASSERT_EQUAL(2, backfill.promises()[0].nodes.count());
  }
};

CPPUNIT_TEST_SUITE_REGISTRATION(FloorTest);

} // namespace harmony
