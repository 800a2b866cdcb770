#include "src/plan/fit.h"
#include "src/plan/interference.h"
#include "tests/unit/plan_fixtures.h"

#include <cppunit/extensions/HelperMacros.h>

namespace harmony {

using namespace fixtures;

class InterferenceTest : public CppUnit::TestFixture {
  CPPUNIT_TEST_SUITE(InterferenceTest);
  CPPUNIT_TEST(a_gang_alone_on_one_node_goes_at_full_speed);
  CPPUNIT_TEST(more_nodes_are_slower);
  CPPUNIT_TEST(a_neighbour_hurts_more_the_nearer_it_is);
  CPPUNIT_TEST(the_network_card_counts_only_between_distributed_jobs);
  CPPUNIT_TEST(the_slowest_node_sets_the_pace);
  CPPUNIT_TEST(cores_of_others_count_by_their_share);
  CPPUNIT_TEST(no_crowd_brings_the_speed_to_nothing);
  CPPUNIT_TEST(harm_is_what_the_neighbours_would_feel);
  CPPUNIT_TEST(neighbours_are_told_with_what_they_share);
  CPPUNIT_TEST(a_long_list_of_neighbours_is_cut);
  CPPUNIT_TEST(a_node_without_a_topology_is_no_problem);
  CPPUNIT_TEST(terms_say_what_the_worst_node_has);
  CPPUNIT_TEST(a_running_job_is_no_neighbour_of_itself);
  CPPUNIT_TEST(neighbours_have_terms_without_and_with_the_gang);
  CPPUNIT_TEST_SUITE_END();

  // A worker on each of those GPUs, with a core of its own.
  static Plan plan(const Snapshot &snapshot, const std::vector<On> &where) {
    Plan made;
    for (const On &on : where) {
      const NodeState &here = snapshot.nodes[static_cast<std::size_t>(on.node)];
      Placement placement;
      placement.node = on.node;
      placement.node_name = here.name;
      placement.workers = static_cast<int>(on.gpus.size());
      placement.ps = on.ps;
      placement.gpus = Bits(here.free_gpus.size());
      for (const int gpu : on.gpus) placement.gpus.set(gpu);
      placement.cores = Bits(here.free_cores.size());
      for (int core = 0; core < placement.tasks(); ++core) placement.cores.set(core);
      made.placements.push_back(placement);
    }
    return made;
  }

  static double speed(const Snapshot &snapshot, const std::vector<On> &where) {
    return predicted_speed(Cluster(snapshot), Gang(), plan(snapshot, where));
  }
  static double harm_of(const Snapshot &snapshot, const std::vector<On> &where) {
    return harm(Cluster(snapshot), Gang(), plan(snapshot, where));
  }

  void terms_say_what_the_worst_node_has() {
    Snapshot snapshot = cluster(2, "pcie8");
    run(snapshot, 90, {{0, {0}}, {1, {4}}});
    run(snapshot, 91, {{0, {2, 3}}});
    const InterferenceTerms terms =
        interference_terms(Cluster(snapshot), plan(snapshot, {{0, {1}}, {1, {0}}})); // n0 is worse
    CPPUNIT_ASSERT_EQUAL(1.0, terms.same_domain);
    CPPUNIT_ASSERT_EQUAL(2.0, terms.same_socket);
    CPPUNIT_ASSERT_EQUAL(1.0, terms.same_nic);
    CPPUNIT_ASSERT_EQUAL(3.0 / 32, terms.cores);
    CPPUNIT_ASSERT_EQUAL(0.5, terms.across_nodes);
    CPPUNIT_ASSERT_EQUAL(speed(snapshot, {{0, {1}}, {1, {0}}}), speed_by(terms));
  }

  void a_running_job_is_no_neighbour_of_itself() {
    Snapshot snapshot = cluster(2, "pcie8");
    const std::vector<On> where{{0, {0, 1}}, {1, {0}}};
    run(snapshot, 90, where);
    const InterferenceTerms alone = interference_terms(Cluster(snapshot), plan(snapshot, where), 0);
    CPPUNIT_ASSERT_EQUAL(0.0, alone.same_domain + alone.same_socket + alone.same_nic + alone.cores);
    run(snapshot, 91, {{0, {2}}, {1, {2}}});
    const InterferenceTerms beside = interference_terms(Cluster(snapshot), plan(snapshot, where), 0);
    CPPUNIT_ASSERT_EQUAL(1.0, beside.same_nic);
    CPPUNIT_ASSERT_EQUAL(1.0, beside.same_socket);
  }

  void neighbours_have_terms_without_and_with_the_gang() {
    Snapshot snapshot = cluster(2, "pcie8");
    run(snapshot, 90, {{0, {0}}});
    run(snapshot, 91, {{0, {4}}, {1, {0}}});
    const auto all = neighbour_terms(Cluster(snapshot), plan(snapshot, {{0, {1, 2}}}));
    CPPUNIT_ASSERT_EQUAL(std::size_t{2}, all.size());
    CPPUNIT_ASSERT_EQUAL(90u, all[0].job->job);
    CPPUNIT_ASSERT_EQUAL(0.0, all[0].before.same_domain);
    CPPUNIT_ASSERT_EQUAL(1.0, all[0].after.same_domain);
    CPPUNIT_ASSERT_EQUAL(1.0, all[0].after.same_socket);
    CPPUNIT_ASSERT_EQUAL(1.0 / 32, all[0].before.cores);
    CPPUNIT_ASSERT_EQUAL(3.0 / 32, all[0].after.cores);
    CPPUNIT_ASSERT_EQUAL(0.5, all[1].before.across_nodes);
    CPPUNIT_ASSERT_EQUAL(0.0, all[1].after.same_nic); // the gang is on one node
  }

  void a_gang_alone_on_one_node_goes_at_full_speed() {
    const Snapshot snapshot = cluster(2, "pcie8");
    CPPUNIT_ASSERT_EQUAL(1.0, speed(snapshot, {{0, {0, 1, 4}, 2}}));
    CPPUNIT_ASSERT_EQUAL(0.0, harm_of(snapshot, {{0, {0, 1, 4}, 2}}));
  }

  void more_nodes_are_slower() {
    const Snapshot snapshot = cluster(3, "pcie8");
    const double two = speed(snapshot, {{0, {0}}, {1, {0}}}), three = speed(snapshot, {{0, {0}}, {1, {0}}, {2, {0}}});
    CPPUNIT_ASSERT(two < 1);
    CPPUNIT_ASSERT(three < two);
  }

  void a_neighbour_hurts_more_the_nearer_it_is() {
    Snapshot snapshot = cluster(1, "pcie8");
    run(snapshot, 90, {{0, {0}}});
    const double same_switch = speed(snapshot, {{0, {1}}}), same_socket = speed(snapshot, {{0, {2}}}),
                 apart = speed(snapshot, {{0, {4}}});
    CPPUNIT_ASSERT(same_switch < same_socket);
    CPPUNIT_ASSERT(same_socket < apart);
    CPPUNIT_ASSERT(apart < 1); // it has cores of the node
    Snapshot two = snapshot;
    run(two, 91, {{0, {2}}});
    CPPUNIT_ASSERT(speed(two, {{0, {1}}}) < same_switch);
  }

  void the_network_card_counts_only_between_distributed_jobs() {
    Snapshot local = cluster(3, "pcie8"), wide = local;
    run(local, 90, {{0, {0}}});
    run(wide, 90, {{0, {0}}, {2, {0}}});
    CPPUNIT_ASSERT_EQUAL(speed(local, {{0, {4}}}), speed(wide, {{0, {4}}}));
    const double gap = speed(local, {{0, {4}}, {1, {4}}}) - speed(wide, {{0, {4}}, {1, {4}}});
    CPPUNIT_ASSERT_DOUBLES_EQUAL(InterferenceRates().same_nic, gap, 1e-9);
    CPPUNIT_ASSERT_DOUBLES_EQUAL(InterferenceRates().same_nic,
                                 harm_of(wide, {{0, {4}}, {1, {4}}}) - harm_of(local, {{0, {4}}, {1, {4}}}), 1e-9);
  }

  void the_slowest_node_sets_the_pace() {
    Snapshot one = cluster(2, "pcie8"), both = one;
    run(one, 90, {{0, {0}}});
    run(both, 90, {{0, {0}}});
    run(both, 91, {{1, {0}}});
    CPPUNIT_ASSERT_DOUBLES_EQUAL(speed(one, {{0, {1}}, {1, {1}}}), speed(both, {{0, {1}}, {1, {1}}}), 1e-9);
  }

  void cores_of_others_count_by_their_share() {
    Snapshot half = cluster(1, "nogpu"), quarter = half;
    run(half, 90, {{0, {}, 16}});
    run(quarter, 90, {{0, {}, 8}});
    CPPUNIT_ASSERT_DOUBLES_EQUAL(1 - InterferenceRates().cores / 2, speed(half, {{0, {}, 1}}), 1e-9);
    CPPUNIT_ASSERT_DOUBLES_EQUAL(1 - InterferenceRates().cores / 4, speed(quarter, {{0, {}, 1}}), 1e-9);
  }

  void no_crowd_brings_the_speed_to_nothing() {
    Snapshot snapshot = cluster(2, "dgx2");
    for (int gpu = 0; gpu < 15; ++gpu) run(snapshot, 90, {{0, {gpu}}, {1, {gpu}}}, 3);
    CPPUNIT_ASSERT_EQUAL(InterferenceRates().slowest, speed(snapshot, {{0, {15}}, {1, {15}}}));
    CPPUNIT_ASSERT(harm_of(snapshot, {{0, {15}}, {1, {15}}}) <= 15);
  }

  void harm_is_what_the_neighbours_would_feel() {
    Snapshot snapshot = cluster(2, "pcie8");
    run(snapshot, 90, {{0, {0}}});
    const double near = harm_of(snapshot, {{0, {1}}}), far = harm_of(snapshot, {{0, {4}}});
    CPPUNIT_ASSERT(near > far);
    CPPUNIT_ASSERT(far > 0);
    CPPUNIT_ASSERT_EQUAL(0.0, harm_of(snapshot, {{1, {0, 1}}}));
    run(snapshot, 91, {{0, {5}}});
    CPPUNIT_ASSERT(harm_of(snapshot, {{0, {1}}}) > near); // two jobs feel it
    // A job on two of the nodes is slowed once, at its slowest.
    Snapshot twice = cluster(2, "pcie8");
    run(twice, 90, {{0, {0}}, {1, {0}}});
    CPPUNIT_ASSERT_DOUBLES_EQUAL(near + InterferenceRates().same_nic, harm_of(twice, {{0, {1}}, {1, {1}}}), 1e-9);
  }

  void neighbours_are_told_with_what_they_share() {
    Snapshot snapshot = cluster({"pcie8", "dgx1", "workstation2", "nogpu"});
    run(snapshot, 17, {{0, {0, 2}, 1}});
    run(snapshot, 18, {{0, {6}}, {1, {0}}});
    run(snapshot, 19, {{2, {0}}});
    run(snapshot, 20, {{3, {}, 1}});
    const auto told = [&](const std::vector<On> &where) {
      return neighbours(Cluster(snapshot), plan(snapshot, where));
    };
    using Texts = std::vector<std::string>;
    CPPUNIT_ASSERT((Texts{"n0: job 17 (vgg16) 2+1, same PCIe switch", "n0: job 18 (vgg16) 1+0, same node"}) ==
                   told({{0, {1}}}));
    CPPUNIT_ASSERT((Texts{"n0: job 17 (vgg16) 2+1, same node", "n0: job 18 (vgg16) 1+0, same socket"}) ==
                   told({{0, {4}}}));
    CPPUNIT_ASSERT((Texts{"n1: job 18 (vgg16) 1+0, same host bridge"}) == told({{1, {2}}}));
    CPPUNIT_ASSERT((Texts{"n2: job 19 (vgg16) 1+0, same host bridge"}) == told({{2, {1}}}));
    CPPUNIT_ASSERT((Texts{"n1: job 18 (vgg16) 1+0, same network card", "n3: job 20 (vgg16) 0+1, same node"}) ==
                   told({{1, {4}}, {3, {}, 1}}));
  }

  void a_long_list_of_neighbours_is_cut() {
    Snapshot snapshot = cluster(1, "nogpu");
    for (std::uint32_t job = 1; job <= 11; ++job) run(snapshot, job, {{0, {}, 1}});
    const std::vector<std::string> told = neighbours(Cluster(snapshot), plan(snapshot, {{0, {}, 1}}));
    CPPUNIT_ASSERT_EQUAL(std::size_t{9}, told.size());
    CPPUNIT_ASSERT_EQUAL(std::string("and 3 more"), told.back());
  }

  void a_node_without_a_topology_is_no_problem() {
    Snapshot snapshot = cluster(1, "pcie8");
    run(snapshot, 90, {{0, {0}}});
    snapshot.nodes[0].topology = nullptr;
    const double blind = speed(snapshot, {{0, {1}}});
    CPPUNIT_ASSERT(blind > 0 && blind < 1);
    CPPUNIT_ASSERT_EQUAL(std::string("n0: job 90 (vgg16) 1+0, same node"),
                         neighbours(Cluster(snapshot), plan(snapshot, {{0, {1}}})).front());
  }
};
CPPUNIT_TEST_SUITE_REGISTRATION(InterferenceTest);

} // namespace harmony
