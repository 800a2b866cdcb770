// Where there is room, in numbers, while a cluster fills up.
#include "src/plan/rooms.h"

#include "tests/unit/plan_fixtures.h"

#include <cppunit/extensions/HelperMacros.h>

#include <random>

namespace harmony {

using namespace fixtures;

class RoomsTest : public CppUnit::TestFixture {
  CPPUNIT_TEST_SUITE(RoomsTest);
  CPPUNIT_TEST(a_cluster_tells_which_nodes_it_changed);
  CPPUNIT_TEST(rooms_of_a_cluster_that_filled_up_are_those_of_a_new_one);
  CPPUNIT_TEST(nodes_of_different_states_are_not_alike);
  CPPUNIT_TEST(nodes_that_are_taken_out_are_in_no_class);
  CPPUNIT_TEST(a_way_meets_what_the_components_before_it_leave);
  CPPUNIT_TEST(a_way_may_say_which_domains_workers_go_into);
  CPPUNIT_TEST_SUITE_END();

  void a_cluster_tells_which_nodes_it_changed() {
    const Snapshot snapshot = cluster(4, "pcie8");
    Cluster cluster(snapshot);
    CPPUNIT_ASSERT_EQUAL(std::uint64_t{0}, cluster.changes());
    const Gang wide = gang(snapshot, 1, 12), one = gang(snapshot, 2, 1);
    cluster.start(wide, ask("pack", snapshot, wide).plan);
    CPPUNIT_ASSERT(cluster.changed_nodes() == (std::vector<int>{0, 1}));
    cluster.take(one.components.front(), make_policy("pack")->propose(cluster, one, true).plan.placements.front());
    CPPUNIT_ASSERT(cluster.changed_nodes() == (std::vector<int>{0, 1, 1}));
    CPPUNIT_ASSERT_EQUAL(std::uint64_t{3}, cluster.changes());
  }

  static std::vector<int> members(const Rooms &rooms, const NodeClass &one) {
    std::vector<int> nodes;
    for (int node = one.first; node >= 0; node = rooms.next[static_cast<std::size_t>(node)]) nodes.push_back(node);
    return nodes;
  }

  static void assert_same(const Rooms &one, const Rooms &other) {
    CPPUNIT_ASSERT_EQUAL(one.classes.size(), other.classes.size());
    CPPUNIT_ASSERT(one.class_of == other.class_of);
    CPPUNIT_ASSERT_EQUAL(one.usable, other.usable);
    CPPUNIT_ASSERT_EQUAL(one.most_free_gpus, other.most_free_gpus);
    CPPUNIT_ASSERT_EQUAL(one.most_free_cores, other.most_free_cores);
    for (std::size_t i = 0; i < one.classes.size(); ++i) {
      const NodeClass &a = one.classes[i], &b = other.classes[i];
      CPPUNIT_ASSERT(members(one, a) == members(other, b));
      CPPUNIT_ASSERT_EQUAL(a.workers, b.workers);
      CPPUNIT_ASSERT_EQUAL(a.ps, b.ps);
      CPPUNIT_ASSERT_EQUAL(a.tasks, b.tasks);
      CPPUNIT_ASSERT_EQUAL(a.free_gpus, b.free_gpus);
      CPPUNIT_ASSERT_EQUAL(a.free_cores, b.free_cores);
      CPPUNIT_ASSERT_EQUAL(a.free_memory, b.free_memory);
    }
  }

  void rooms_of_a_cluster_that_filled_up_are_those_of_a_new_one() {
    std::mt19937 random(3);
    const auto below = [&](int limit) { return static_cast<int>(random() % static_cast<unsigned>(limit)); };
    Snapshot snapshot = cluster({"pcie8", "dgx1", "nogpu", "pcie8", "epyc4", "dgx1", "servers6", "pcie8"});
    Cluster filling(snapshot);
    for (std::uint32_t job = 1; job < 40; ++job) {
      Gang asked = gang(snapshot, job, 1 + below(6), below(3));
      Component &component = asked.components.front();
      if (below(2)) component.memory_per_cpu_mb = static_cast<unsigned>(1000 + below(9000));
      if (below(4) == 0) component.gpus.model = snapshot.nodes.front().gpu_models.front();
      Snapshot now = snapshot;
      for (int i = 0; i < filling.size(); ++i) now.nodes[static_cast<std::size_t>(i)] = filling.node(i);
      const Cluster anew(now);
      for (const bool empty : {false, true})
        assert_same(find_rooms(View(filling, empty), component, {}, false),
                    find_rooms(View(anew, empty), component, {}, false));
      const Proposal proposal = make_policy("pack")->propose(filling, asked, true);
      if (proposal.verdict == Verdict::place) filling.start(asked, proposal.plan);
    }
    CPPUNIT_ASSERT(filling.changes() > 10);
  }

  void nodes_of_different_states_are_not_alike() {
    const Snapshot snapshot = cluster(5, "pcie8");
    const Cluster idle(snapshot);
    const Gang asked = gang(snapshot, 1, 4, 1);
    const std::vector<int> states{7, 0, 7, -1, 0};
    const Rooms rooms = find_rooms(View(idle), asked.components.front(), {}, false, &states);
    CPPUNIT_ASSERT_EQUAL(std::size_t{3}, rooms.classes.size());
    CPPUNIT_ASSERT(members(rooms, rooms.classes[0]) == (std::vector<int>{0, 2}));
    CPPUNIT_ASSERT(members(rooms, rooms.classes[1]) == (std::vector<int>{1, 4}));
    CPPUNIT_ASSERT(members(rooms, rooms.classes[2]) == (std::vector<int>{3}));
    for (const int node : {0, 1, 3})
      CPPUNIT_ASSERT_EQUAL(
          states[static_cast<std::size_t>(node)],
          rooms.classes[static_cast<std::size_t>(rooms.class_of[static_cast<std::size_t>(node)])].state);
    CPPUNIT_ASSERT_EQUAL(std::size_t{1}, find_rooms(View(idle), asked.components.front(), {}, false).classes.size());
    GangPlacer placer(idle, asked, false);
    CPPUNIT_ASSERT_EQUAL(std::size_t{1}, placer.rooms_of(0).classes.size());
    placer.tell_apart(states);
    CPPUNIT_ASSERT_EQUAL(std::size_t{3}, placer.rooms_of(0).classes.size());
  }

  void nodes_that_are_taken_out_are_in_no_class() {
    const Snapshot snapshot = cluster({"pcie8", "nogpu", "pcie8", "pcie8"});
    Gang asked = gang(snapshot, 1, 2);
    asked.components.front().gpus.per_job = 0;
    const Rooms all = find_rooms(View(Cluster(snapshot)), asked.components.front(), {}, false);
    const Rooms rest = without(all, {0, 1});
    CPPUNIT_ASSERT(members(rest, rest.classes[0]) == (std::vector<int>{2, 3}));
    CPPUNIT_ASSERT_EQUAL(2, rest.classes[0].count);
    CPPUNIT_ASSERT(members(rest, rest.classes[1]).empty());
    CPPUNIT_ASSERT(rest.class_of == (std::vector<int>{-1, -1, 0, 0}));
    CPPUNIT_ASSERT_EQUAL(2, fewest_nodes(rest, asked.components.front(), {})->front().node);
    Choice elsewhere;
    elsewhere.not_on = {0, 1};
    CPPUNIT_ASSERT_EQUAL(2, fewest_nodes(all, asked.components.front(), elsewhere)->front().node);
  }

  void a_way_meets_what_the_components_before_it_leave() {
    const Snapshot snapshot = cluster(2, "pcie8");
    const Cluster idle(snapshot);
    const Gang asked = hetjob(snapshot, 1, 8, 2);
    GangPlacer placer(idle, asked, false);
    CPPUNIT_ASSERT_EQUAL(2, placer.rooms_of(1).classes.front().count);
    std::vector<std::size_t> classes;
    const auto way = [&](const Rooms &rooms, const Component &component) {
      classes.push_back(rooms.classes.size());
      return fewest_nodes(rooms, component, {});
    };
    CPPUNIT_ASSERT_EQUAL(std::string("n0 8+2"), nodes_text(*placer.by(way, false)));
    CPPUNIT_ASSERT(classes == (std::vector<std::size_t>{1, 2}));
    CPPUNIT_ASSERT_EQUAL(std::string("n0 8+0, n1 0+2"), nodes_text(*placer.by(way, true)));
    const auto none = [](const Rooms &, const Component &) { return std::optional<Shares>(); };
    CPPUNIT_ASSERT(!placer.by(none, false));
  }

  void a_way_may_say_which_domains_workers_go_into() {
    const Snapshot snapshot = cluster(1, "pcie8");
    const Cluster idle(snapshot);
    const Gang asked = gang(snapshot, 1, 2);
    GangPlacer placer(idle, asked, false);
    const Topology &topology = *snapshot.nodes.front().topology;
    std::vector<int> workers_in(topology.domains.size());
    workers_in[static_cast<std::size_t>(topology.gpus[7].domain)] = 1;
    workers_in[static_cast<std::size_t>(topology.gpus[0].domain)] = 1;
    const auto plan = placer.by(
        [&](const Rooms &, const Component &) {
          return std::optional<Shares>({{0, 2, 0, workers_in}});
        },
        false);
    const Bits &gpus = plan->placements.front().gpus;
    CPPUNIT_ASSERT(gpus.count() == 2 && gpus.first() < 2 && gpus.next(2) >= 6);
  }
};
CPPUNIT_TEST_SUITE_REGISTRATION(RoomsTest);

} // namespace harmony
