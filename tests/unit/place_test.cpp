// What every policy keeps to, whatever it prefers: the limits of a component, and whole gangs.

#include "src/plan/fit.h"
#include "tests/unit/plan_fixtures.h"

#include <cppunit/extensions/HelperMacros.h>

#include <algorithm>
#include <random>

namespace harmony {

using namespace fixtures;

class PlaceTest : public CppUnit::TestFixture {
  CPPUNIT_TEST_SUITE(PlaceTest);
  CPPUNIT_TEST(required_nodes_are_all_used);
  CPPUNIT_TEST(limits_on_nodes_are_kept);
  CPPUNIT_TEST(gpus_per_node_are_spread_evenly);
  CPPUNIT_TEST(tasks_per_node_is_kept);
  CPPUNIT_TEST(the_gpu_model_asked_for_is_the_one_given);
  CPPUNIT_TEST(lost_gpus_are_not_counted_on);
  CPPUNIT_TEST(exclusive_jobs_get_nodes_for_themselves);
  CPPUNIT_TEST(components_of_a_hetjob_share_a_node_when_packed);
  CPPUNIT_TEST(components_of_a_hetjob_never_take_the_same_core);
  CPPUNIT_TEST(all_nodes_of_the_gang_count_as_beside_it);
  CPPUNIT_TEST(pack_finds_as_few_nodes_as_trying_everything_does);
  CPPUNIT_TEST_SUITE_END();

  void required_nodes_are_all_used() {
    Snapshot snapshot = cluster(4, "pcie8");
    Gang asked = gang(snapshot, 1, 8, 1);
    asked.components.front().required.set(1);
    asked.components.front().required.set(3);
    for (const std::string &name : placing()) {
      const Proposal proposal = ask(name, snapshot, asked);
      CPPUNIT_ASSERT_MESSAGE(name, proposal.verdict == Verdict::place);
      const std::vector<int> nodes = nodes_of(proposal.plan);
      CPPUNIT_ASSERT_MESSAGE(name, std::count(nodes.begin(), nodes.end(), 1) == 1);
      CPPUNIT_ASSERT_MESSAGE(name, std::count(nodes.begin(), nodes.end(), 3) == 1);
    }
    CPPUNIT_ASSERT_EQUAL(std::size_t{2}, nodes_used(ask("pack", snapshot, asked)));
    run(snapshot, 90, {{3, {0, 1, 2, 3, 4, 5, 6, 7}}}, 4);
    for (const std::string &name : placing())
      CPPUNIT_ASSERT_EQUAL(std::string("node n3, which it must use, has no room for a task of it now"),
                           ask(name, snapshot, asked).reason);
  }

  void limits_on_nodes_are_kept() {
    const Snapshot snapshot = cluster(4, "pcie8");
    for (const std::string &name : placing()) {
      Gang asked = gang(snapshot, 1, 6, 1);
      asked.components.front().min_nodes = 3;
      CPPUNIT_ASSERT_MESSAGE(name, nodes_used(ask(name, snapshot, asked)) >= 3);
      asked.components.front().min_nodes = 2;
      asked.components.front().max_nodes = 2;
      CPPUNIT_ASSERT_EQUAL_MESSAGE(name, std::size_t{2}, nodes_used(ask(name, snapshot, asked)));
      asked.components.front().min_nodes = 8; // more than tasks
      asked.components.front().max_nodes = 8;
      CPPUNIT_ASSERT_MESSAGE(name, ask(name, snapshot, asked).verdict == Verdict::no_room);
    }
  }

  void gpus_per_node_are_spread_evenly() {
    const Snapshot snapshot = cluster(4, "pcie8");
    Gang asked = gang(snapshot, 1, 8);
    asked.components.front().gpus = {};
    asked.components.front().gpus.per_node = 4;
    asked.components.front().min_nodes = asked.components.front().max_nodes = 2;
    CPPUNIT_ASSERT_EQUAL(std::string("n0 4+0, n1 4+0"), where("pack", snapshot, asked));
    for (const std::string &name : placing()) {
      const Proposal proposal = ask(name, snapshot, asked);
      CPPUNIT_ASSERT_EQUAL_MESSAGE(name, std::size_t{2}, nodes_used(proposal));
      for (const Placement &placement : proposal.plan.placements) CPPUNIT_ASSERT_EQUAL(4, placement.gpus.count());
    }
    // However many tasks: no more nodes, and so no more GPUs, than it asked for.
    asked.components.front().min_nodes = 1;
    asked.components.front().max_nodes = 0;
    for (const std::string &name : placing())
      CPPUNIT_ASSERT_EQUAL_MESSAGE(name, std::size_t{1}, nodes_used(ask(name, snapshot, asked)));
  }

  void tasks_per_node_is_kept() {
    const Snapshot snapshot = cluster(4, "pcie8");
    Gang asked = gang(snapshot, 1, 5, 1);
    asked.components.front().tasks_per_node = 2;
    for (const std::string &name : placing()) {
      const Proposal proposal = ask(name, snapshot, asked);
      CPPUNIT_ASSERT_MESSAGE(name, nodes_used(proposal) >= 3);
      for (const Placement &placement : proposal.plan.placements) CPPUNIT_ASSERT(placement.tasks() <= 2);
    }
  }

  void the_gpu_model_asked_for_is_the_one_given() {
    Snapshot snapshot = cluster({"pcie8", "dgx1", "epyc4"});
    Gang asked = gang(snapshot, 1, 4);
    asked.components.front().gpus.model = "v100";
    for (const std::string &name : placing()) CPPUNIT_ASSERT_EQUAL(std::string("n1 4+0"), where(name, snapshot, asked));
    asked.components.front().gpus.model = "h100";
    for (const std::string &name : placing())
      CPPUNIT_ASSERT_EQUAL(std::string("no_room"), where(name, snapshot, asked));
  }

  void lost_gpus_are_not_counted_on() {
    Snapshot snapshot = cluster(3, "servers6");
    Topology broken = *snapshot.nodes[0].topology;
    broken.gpus[1].lost = true;
    snapshot.nodes[0].topology = snapshot.nodes[1].topology = std::make_shared<Topology>(broken);
    for (const char *name : {"pack", "lif", "one-distributed", "cons1"})
      CPPUNIT_ASSERT_EQUAL_MESSAGE(name, std::string("n2 2+0"), where(name, snapshot, gang(snapshot, 1, 2)));
    for (const std::string &name : placing()) {
      CPPUNIT_ASSERT_EQUAL(std::string("n0 1+0, n1 1+0, n2 2+0"), where(name, snapshot, gang(snapshot, 1, 4)));
      CPPUNIT_ASSERT_EQUAL(std::string("no_room"), where(name, snapshot, gang(snapshot, 1, 5)));
    }
  }

  void exclusive_jobs_get_nodes_for_themselves() {
    Snapshot snapshot = cluster(3, "pcie8");
    run(snapshot, 90, {{0, {0}}});
    snapshot.nodes[1].whole_taken = true;
    Gang asked = gang(snapshot, 1, 2);
    asked.components.front().whole_nodes = true;
    for (const char *name : {"pack", "tetris", "lif", "one-distributed", "cons1"})
      CPPUNIT_ASSERT_EQUAL_MESSAGE(name, std::string("n2 2+0"), where(name, snapshot, asked));
    for (const std::string &name : placing())
      for (const Placement &placement : ask(name, snapshot, gang(snapshot, 1, 8, 4)).plan.placements)
        CPPUNIT_ASSERT(placement.node != 1);
  }

  void components_of_a_hetjob_share_a_node_when_packed() {
    const Snapshot snapshot = cluster({"nogpu", "pcie8", "nogpu"});
    const Gang asked = hetjob(snapshot, 1, 4, 2);
    CPPUNIT_ASSERT_EQUAL(std::string("n1 4+2"), where("pack", snapshot, asked));
    CPPUNIT_ASSERT_EQUAL(std::string("n1 4+2"), where("one-distributed", snapshot, asked));
    CPPUNIT_ASSERT_EQUAL(std::string("n1 4+2"), where("cons1", snapshot, asked));
    // The least loaded nodes have no worker.
    CPPUNIT_ASSERT_EQUAL(std::string("n0 0+1, n1 4+0, n2 0+1"), where("spread", snapshot, asked));
  }

  void components_of_a_hetjob_never_take_the_same_core() {
    const Snapshot snapshot = cluster(2, "servers6");
    Gang asked = hetjob(snapshot, 1, 4, 2);
    for (Component &each : asked.components) each.cpus_per_task = 2;
    for (const std::string &name : placing()) {
      const Proposal proposal = ask(name, snapshot, asked);
      CPPUNIT_ASSERT_MESSAGE(name, proposal.verdict == Verdict::place);
      std::map<int, Bits> taken;
      for (const Placement &placement : proposal.plan.placements) {
        Bits &here = taken.emplace(placement.node, Bits(8)).first->second;
        CPPUNIT_ASSERT(!here.overlaps(placement.cores));
        here |= placement.cores;
      }
    }
    for (Component &each : asked.components) each.cpus_per_task = 4; // no core left for PS
    for (const std::string &name : placing())
      CPPUNIT_ASSERT_EQUAL(std::string("its parts do not fit beside each other now"),
                           ask(name, snapshot, asked).reason);
  }

  void all_nodes_of_the_gang_count_as_beside_it() {
    // Each node has room for one PS beside its workers; an empty node could have both.
    Snapshot snapshot = cluster({"servers6", "servers6", "nogpu"});
    Gang asked = hetjob(snapshot, 1, 4, 2);
    asked.components.front().cpus_per_task = 3;
    asked.components.back().cpus_per_task = 2;
    CPPUNIT_ASSERT_EQUAL(std::string("n0 2+1, n1 2+1"), where("pack", snapshot, asked));
  }

  // The fewest of the nodes from `node` on, and those used so far, that take the rest; 99 if none do.
  static int try_everything(const Snapshot &snapshot, const Component &component, std::size_t node, int workers, int ps,
                            int used) {
    if (workers == 0 && ps == 0) {
      const bool allowed = used >= component.min_nodes && (!component.max_nodes || used <= component.max_nodes);
      return allowed ? used : 99;
    }
    if (node == snapshot.nodes.size()) return 99;
    int best = try_everything(snapshot, component, node + 1, workers, ps, used);
    for (int w = 0; w <= workers; ++w)
      for (int p = w ? 0 : 1; p <= ps; ++p)
        if (fits(snapshot.nodes[node], component, w, p, true))
          best = std::min(best, try_everything(snapshot, component, node + 1, workers - w, ps - p, used + 1));
    return best;
  }

  void pack_finds_as_few_nodes_as_trying_everything_does() {
    std::mt19937 random(4);
    const auto below = [&](int end) { return static_cast<int>(random() % static_cast<unsigned>(end)); };
    int placed = 0, refused = 0;
    for (int round = 0; round < 400; ++round) {
      Snapshot snapshot = cluster({"servers6", "epyc4", "nogpu", "servers6", "pcie8"});
      for (NodeState &each : snapshot.nodes) {
        for (int gpu = 0; gpu < each.free_gpus.size(); ++gpu)
          if (below(2)) each.free_gpus.clear(gpu);
        while (each.free_cores.count() > 8) each.free_cores.clear(each.free_cores.first());
        for (int core = below(9); core > 0 && each.free_cores.any(); --core)
          each.free_cores.clear(each.free_cores.first());
      }
      Gang asked = gang(snapshot, 1, 1 + below(6), below(4));
      Component &component = asked.components.front();
      component.cpus_per_task = 1 + below(3);
      component.min_nodes = 1 + below(2);
      if (below(3) == 0) component.max_nodes = component.min_nodes + below(2);
      const int fewest = try_everything(snapshot, component, 0, component.workers, component.ps, 0);
      const Proposal proposal = ask("pack", snapshot, asked);
      CPPUNIT_ASSERT_EQUAL(fewest, proposal.verdict == Verdict::place ? static_cast<int>(nodes_used(proposal)) : 99);
      ++(fewest < 99 ? placed : refused);
    }
    CPPUNIT_ASSERT(placed > 50 && refused > 50);
  }
};
CPPUNIT_TEST_SUITE_REGISTRATION(PlaceTest);

} // namespace harmony
