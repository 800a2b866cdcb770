#include "src/policy/diverse.h"
#include "src/show/decision_json.h"
#include "tests/unit/plan_fixtures.h"

#include <cppunit/extensions/HelperMacros.h>

namespace harmony {

using namespace fixtures;

class PolicyTest : public CppUnit::TestFixture {
  CPPUNIT_TEST_SUITE(PolicyTest);
  CPPUNIT_TEST(every_name_of_the_manual_makes_the_policy_of_that_name);
  CPPUNIT_TEST(stock_has_no_opinion);
  CPPUNIT_TEST(pack_uses_the_fewest_nodes);
  CPPUNIT_TEST(pack_takes_the_node_with_least_left_over);
  CPPUNIT_TEST(pack_puts_ps_beside_workers);
  CPPUNIT_TEST(pack_prefers_a_lower_weight_to_a_better_fit_but_not_to_fewer_nodes);
  CPPUNIT_TEST(pack_keeps_gangs_without_gpus_off_free_gpus);
  CPPUNIT_TEST(pack_uses_another_node_for_ps_that_do_not_fit_beside_workers_if_slurm_would);
  CPPUNIT_TEST(spread_puts_each_task_on_the_least_loaded_node);
  CPPUNIT_TEST(spread_goes_by_gpus_before_cores);
  CPPUNIT_TEST(tetris_puts_gpu_tasks_where_gpus_are_free_and_cpu_tasks_where_cores_are);
  CPPUNIT_TEST(lif_leaves_a_pcie_switch_with_a_neighbour_alone);
  CPPUNIT_TEST(lif_keeps_two_distributed_gangs_apart);
  CPPUNIT_TEST(lif_takes_the_fewest_nodes_where_nothing_runs);
  CPPUNIT_TEST(one_distributed_goes_anywhere_with_a_gang_for_one_node);
  CPPUNIT_TEST(one_distributed_avoids_nodes_with_a_distributed_job);
  CPPUNIT_TEST(one_distributed_waits_and_packs_when_it_may_wait_no_more);
  CPPUNIT_TEST(one_distributed_soft_avoids_distributed_jobs_and_never_waits);
  CPPUNIT_TEST(tiresias_takes_the_fewest_nodes_for_skewed_models_only);
  CPPUNIT_TEST(optimus_spreads_workers_and_ps_evenly_over_the_fewest_nodes);
  CPPUNIT_TEST(optimus_takes_the_nodes_with_most_room);
  CPPUNIT_TEST(cons1_waits_for_the_fewest_nodes);
  CPPUNIT_TEST(cons1_starts_on_the_fewest_nodes_without_a_distributed_job);
  CPPUNIT_TEST(cons1_does_not_wait_for_fewer_nodes_than_the_limits_allow);
  CPPUNIT_TEST(of_the_gangs_to_compare_some_have_free_switches_to_themselves);
  CPPUNIT_TEST(what_is_short_is_said);
  CPPUNIT_TEST(candidates_are_few_and_the_chosen_one_is_first);
  CPPUNIT_TEST_SUITE_END();

  void every_name_of_the_manual_makes_the_policy_of_that_name() {
    CPPUNIT_ASSERT_EQUAL(std::size_t{11}, policy_names().size());
    for (const std::string &name : without_model()) CPPUNIT_ASSERT_EQUAL(name, std::string(make_policy(name)->name()));
    CPPUNIT_ASSERT(!make_policy("learned")); // it is made for each round
    CPPUNIT_ASSERT(!make_policy("packs"));
    CPPUNIT_ASSERT(!make_policy(""));
  }

  void stock_has_no_opinion() {
    const Snapshot snapshot = cluster(1, "pcie8");
    const Proposal proposal = ask("stock", snapshot, gang(snapshot, 1, 2));
    CPPUNIT_ASSERT(proposal.verdict == Verdict::left_to_stock);
    CPPUNIT_ASSERT_EQUAL(std::string("policy stock: no opinion"), proposal.reason);
    CPPUNIT_ASSERT(proposal.plan.placements.empty());
  }

  void pack_uses_the_fewest_nodes() {
    Snapshot snapshot = cluster(4, "pcie8");
    run(snapshot, 90, {{0, {0, 1, 2, 3, 4}}});
    run(snapshot, 91, {{1, {0, 1, 2, 3, 4}}});
    CPPUNIT_ASSERT_EQUAL(std::string("n2 6+0"), where("pack", snapshot, gang(snapshot, 1, 6)));
    // 8 + 3 leave nothing over.
    CPPUNIT_ASSERT_EQUAL(std::string("n0 3+0, n2 8+0"), where("pack", snapshot, gang(snapshot, 1, 11)));
    CPPUNIT_ASSERT_EQUAL(std::string("n0 3+0, n1 3+0, n2 8+0, n3 8+0"), where("pack", snapshot, gang(snapshot, 1, 22)));
  }

  void pack_takes_the_node_with_least_left_over() {
    Snapshot snapshot = cluster(3, "pcie8");
    run(snapshot, 90, {{1, {0, 1, 2, 3}}});
    run(snapshot, 91, {{2, {0, 1, 2, 3, 4, 5}}});
    CPPUNIT_ASSERT_EQUAL(std::string("n2 2+0"), where("pack", snapshot, gang(snapshot, 1, 2)));
    CPPUNIT_ASSERT_EQUAL(std::string("n1 3+0"), where("pack", snapshot, gang(snapshot, 1, 3)));
    CPPUNIT_ASSERT_EQUAL(std::string("n0 5+0"), where("pack", snapshot, gang(snapshot, 1, 5)));
  }

  void pack_puts_ps_beside_workers() {
    Snapshot snapshot = cluster({"nogpu", "pcie8", "nogpu"});
    CPPUNIT_ASSERT_EQUAL(std::string("n1 4+2"), where("pack", snapshot, gang(snapshot, 1, 4, 2)));
  }

  void pack_prefers_a_lower_weight_to_a_better_fit_but_not_to_fewer_nodes() {
    Snapshot snapshot = cluster(3, "pcie8");
    run(snapshot, 90, {{0, {0, 1, 2, 3}}});
    run(snapshot, 91, {{1, {0, 1, 2, 3}}});
    snapshot.nodes[0].weight = 5;
    snapshot.nodes[2].weight = 2;
    CPPUNIT_ASSERT_EQUAL(std::string("n1 4+0"), where("pack", snapshot, gang(snapshot, 1, 4)));
    snapshot.nodes[1].weight = 5;
    CPPUNIT_ASSERT_EQUAL(std::string("n2 4+0"), where("pack", snapshot, gang(snapshot, 1, 4)));
    snapshot.nodes[2].weight = 9;
    CPPUNIT_ASSERT_EQUAL(std::string("n2 8+0"), where("pack", snapshot, gang(snapshot, 1, 8)));
  }

  void pack_keeps_gangs_without_gpus_off_free_gpus() {
    const Snapshot snapshot = cluster({"pcie8", "nogpu", "pcie8"});
    Gang cpus = gang(snapshot, 1, 4);
    cpus.components.front().gpus.per_job = 0;
    CPPUNIT_ASSERT_EQUAL(std::string("n1 4+0"), where("pack", snapshot, cpus));
  }

  void pack_uses_another_node_for_ps_that_do_not_fit_beside_workers_if_slurm_would() {
    Snapshot snapshot = cluster({"servers6", "servers6", "servers6"});
    Gang wide = gang(snapshot, 1, 4, 2); // two workers fill a node's cores
    wide.components.front().cpus_per_task = 4;
    CPPUNIT_ASSERT_EQUAL(std::string("n0 2+0, n1 2+0, n2 0+2"), where("pack", snapshot, wide));
    // Slurm takes no node for a job with --gpus that has no GPU to offer.
    Snapshot without = cluster({"servers6", "servers6", "nogpu"});
    CPPUNIT_ASSERT_EQUAL(std::string("no_room"), where("pack", without, wide));
  }

  void spread_puts_each_task_on_the_least_loaded_node() {
    Snapshot snapshot = cluster(4, "pcie8");
    run(snapshot, 90, {{0, {0, 1, 2, 3}}});
    CPPUNIT_ASSERT_EQUAL(std::string("n1 1+0, n2 1+0, n3 1+0"), where("spread", snapshot, gang(snapshot, 1, 3)));
    CPPUNIT_ASSERT_EQUAL(std::string("n1 2+0, n2 2+0, n3 2+0"), where("spread", snapshot, gang(snapshot, 1, 6)));
    CPPUNIT_ASSERT_EQUAL(std::string("n0 1+0, n1 4+0, n2 4+0, n3 4+0"),
                         where("spread", snapshot, gang(snapshot, 1, 13)));
    // PS after the workers, also where it is emptiest.
    CPPUNIT_ASSERT_EQUAL(std::string("n1 1+0, n2 1+0, n3 0+1"), where("spread", snapshot, gang(snapshot, 1, 2, 1)));
  }

  void spread_goes_by_gpus_before_cores() {
    Snapshot snapshot = cluster(2, "pcie8");
    run(snapshot, 90, {{0, {0}}});    // a GPU and a core
    run(snapshot, 91, {{1, {}, 20}}); // 20 cores and no GPU
    CPPUNIT_ASSERT_EQUAL(std::string("n1 1+0"), where("spread", snapshot, gang(snapshot, 1, 1)));
  }

  void tetris_puts_gpu_tasks_where_gpus_are_free_and_cpu_tasks_where_cores_are() {
    Snapshot snapshot = cluster(2, "pcie8");
    run(snapshot, 90, {{0, {0, 1, 2, 3, 4, 5}}}); // n0: few GPUs, many cores
    run(snapshot, 91, {{1, {}, 16}});             // n1: all GPUs, half the cores
    CPPUNIT_ASSERT_EQUAL(std::string("n1 1+0"), where("tetris", snapshot, gang(snapshot, 1, 1)));
    Gang cpus = gang(snapshot, 1, 1);
    cpus.components.front().gpus.per_job = 0;
    CPPUNIT_ASSERT_EQUAL(std::string("n0 1+0"), where("tetris", snapshot, cpus));
  }

  void lif_leaves_a_pcie_switch_with_a_neighbour_alone() {
    Snapshot snapshot = cluster(2, "pcie8");
    run(snapshot, 90, {{0, {0, 2, 4, 6}}}); // a neighbour below every switch
    run(snapshot, 91, {{1, {0, 1, 2, 3}}}); // one socket taken, the other free
    CPPUNIT_ASSERT_EQUAL(std::string("n1 4+0"), where("lif", snapshot, gang(snapshot, 1, 4)));
  }

  void lif_keeps_two_distributed_gangs_apart() {
    Snapshot snapshot = cluster(6, "servers6");
    run(snapshot, 90, {{0, {0}}, {1, {0}}});
    const Proposal proposal = ask("lif", snapshot, gang(snapshot, 1, 3));
    CPPUNIT_ASSERT(proposal.verdict == Verdict::place);
    for (const Placement &placement : proposal.plan.placements) CPPUNIT_ASSERT(placement.node >= 2);
    CPPUNIT_ASSERT_EQUAL(std::size_t{2}, nodes_used(proposal));
  }

  void lif_takes_the_fewest_nodes_where_nothing_runs() {
    const Snapshot snapshot = cluster(4, "pcie8");
    CPPUNIT_ASSERT_EQUAL(std::size_t{1}, nodes_used(ask("lif", snapshot, gang(snapshot, 1, 8, 2))));
    CPPUNIT_ASSERT_EQUAL(std::size_t{2}, nodes_used(ask("lif", snapshot, gang(snapshot, 1, 12, 2))));
  }

  void one_distributed_goes_anywhere_with_a_gang_for_one_node() {
    Snapshot snapshot = cluster(2, "pcie8");
    run(snapshot, 90, {{0, {0, 1}}, {1, {0}}});
    CPPUNIT_ASSERT_EQUAL(std::string("n0 6+0"), where("one-distributed", snapshot, gang(snapshot, 1, 6)));
  }

  void one_distributed_avoids_nodes_with_a_distributed_job() {
    Snapshot snapshot = cluster(5, "servers6");
    run(snapshot, 90, {{0, {0}}, {1, {0}}});
    CPPUNIT_ASSERT_EQUAL(std::string("n2 2+0, n3 2+0"), where("one-distributed", snapshot, gang(snapshot, 1, 4)));
    // A job on one node is no reason to stay away.
    run(snapshot, 91, {{4, {0}}});
    CPPUNIT_ASSERT_EQUAL(std::string("n2 2+0, n4 1+0"), where("one-distributed", snapshot, gang(snapshot, 1, 3)));
  }

  void one_distributed_waits_and_packs_when_it_may_wait_no_more() {
    Snapshot snapshot = cluster(3, "servers6");
    run(snapshot, 90, {{0, {0}}, {1, {0}}});
    const Proposal waits = ask("one-distributed", snapshot, gang(snapshot, 1, 3));
    CPPUNIT_ASSERT(waits.verdict == Verdict::wait);
    CPPUNIT_ASSERT_EQUAL(std::string("waits for 2 or more nodes without another distributed job"), waits.reason);
    CPPUNIT_ASSERT(waits.plan.placements.empty());
    CPPUNIT_ASSERT_EQUAL(where("pack", snapshot, gang(snapshot, 1, 3)),
                         where("one-distributed", snapshot, gang(snapshot, 1, 3), false));
  }

  void one_distributed_soft_avoids_distributed_jobs_and_never_waits() {
    Snapshot snapshot = cluster(5, "servers6");
    run(snapshot, 90, {{0, {0}}, {1, {0}}});
    CPPUNIT_ASSERT_EQUAL(std::string("n2 2+0, n3 2+0"), where("one-distributed-soft", snapshot, gang(snapshot, 1, 4)));
    run(snapshot, 91, {{2, {0}}, {3, {0}}});
    CPPUNIT_ASSERT_EQUAL(where("pack", snapshot, gang(snapshot, 1, 4)),
                         where("one-distributed-soft", snapshot, gang(snapshot, 1, 4)));
  }

  void tiresias_takes_the_fewest_nodes_for_skewed_models_only() {
    Snapshot snapshot = cluster(4, "pcie8");
    run(snapshot, 90, {{0, {0, 1, 2, 3, 4, 5, 6}}});
    run(snapshot, 91, {{1, {0, 1, 2, 3, 4, 5}}});
    Gang asked = gang(snapshot, 1, 4);
    asked.type = "vgg16";
    CPPUNIT_ASSERT_EQUAL(std::string("n2 4+0"), where("tiresias-skew", snapshot, asked));
    asked.type = "resnet50"; // what is left over, the least first
    CPPUNIT_ASSERT_EQUAL(std::string("n0 1+0, n1 2+0, n2 1+0"), where("tiresias-skew", snapshot, asked));
  }

  void optimus_spreads_workers_and_ps_evenly_over_the_fewest_nodes() {
    const Snapshot snapshot = cluster(4, "pcie8");
    CPPUNIT_ASSERT_EQUAL(std::string("n0 6+1, n1 6+1"), where("optimus-even", snapshot, gang(snapshot, 1, 12, 2)));
    CPPUNIT_ASSERT_EQUAL(std::string("n0 5+1, n1 4+2"), where("optimus-even", snapshot, gang(snapshot, 1, 9, 3)));
    CPPUNIT_ASSERT_EQUAL(std::string("n0 8+2"), where("optimus-even", snapshot, gang(snapshot, 1, 8, 2)));
  }

  void optimus_takes_the_nodes_with_most_room() {
    Snapshot snapshot = cluster(3, "pcie8");
    run(snapshot, 90, {{0, {0, 1, 2, 3}}});
    CPPUNIT_ASSERT_EQUAL(std::string("n1 4+0"), where("optimus-even", snapshot, gang(snapshot, 1, 4)));
    CPPUNIT_ASSERT_EQUAL(std::string("n1 5+0, n2 5+0"), where("optimus-even", snapshot, gang(snapshot, 1, 10)));
    // A node that is full gives its part to the others.
    CPPUNIT_ASSERT_EQUAL(std::string("n0 4+0, n1 7+0, n2 7+0"), where("optimus-even", snapshot, gang(snapshot, 1, 18)));
  }

  void cons1_waits_for_the_fewest_nodes() {
    Snapshot snapshot = cluster(3, "pcie8");
    for (int node = 0; node < 3; ++node) run(snapshot, 90, {{node, {0, 1, 2, 3}}});
    const Proposal waits = ask("cons1", snapshot, gang(snapshot, 1, 8));
    CPPUNIT_ASSERT(waits.verdict == Verdict::wait);
    CPPUNIT_ASSERT_EQUAL(std::string("waits for one node that holds it"), waits.reason);
    CPPUNIT_ASSERT_EQUAL(std::string("wait"), where("cons1", snapshot, gang(snapshot, 1, 12)));
    CPPUNIT_ASSERT_EQUAL(std::string("n0 4+0, n1 4+0"), where("cons1", snapshot, gang(snapshot, 1, 8), false));
    CPPUNIT_ASSERT_EQUAL(std::string("n0 4+0"), where("cons1", snapshot, gang(snapshot, 1, 4)));
  }

  void cons1_starts_on_the_fewest_nodes_without_a_distributed_job() {
    Snapshot snapshot = cluster(4, "servers6");
    run(snapshot, 90, {{0, {0}}, {1, {0}}});
    CPPUNIT_ASSERT_EQUAL(std::string("n2 2+0, n3 1+0"), where("cons1", snapshot, gang(snapshot, 1, 3)));
    run(snapshot, 91, {{3, {0}}});
    CPPUNIT_ASSERT_EQUAL(std::string("n2 2+0, n3 1+0"), where("cons1", snapshot, gang(snapshot, 1, 3)));
    // Four workers would need three nodes now, and two if they were empty.
    CPPUNIT_ASSERT_EQUAL(std::string("wait"), where("cons1", snapshot, gang(snapshot, 1, 4)));
  }

  void cons1_does_not_wait_for_fewer_nodes_than_the_limits_allow() {
    const Snapshot snapshot = cluster(3, "pcie8");
    Gang wide = gang(snapshot, 1, 6);
    wide.components.front().min_nodes = 3;
    CPPUNIT_ASSERT_EQUAL(std::string("n0 2+0, n1 2+0, n2 2+0"), where("cons1", snapshot, wide));
  }

  void of_the_gangs_to_compare_some_have_free_switches_to_themselves() {
    Snapshot snapshot = cluster(1, "pcie8");
    run(snapshot, 9, {{0, {0}, 0}});
    const Cluster nodes(snapshot);
    const auto gpus = [&](int workers, const std::string &wanted) {
      const Gang asks = gang(snapshot, 1, workers);
      GangPlacer placer(nodes, asks, true);
      std::string found = "none";
      each_diverse_gang(
          placer, asks,
          [&](const Plan &plan, const char *what) {
            if (what == wanted) found = number_list(plan.placements.front().gpus);
          },
          [] { return true; });
      return found;
    };
    CPPUNIT_ASSERT_EQUAL(std::string("1"), gpus(1, "fewest nodes")); // below the switch that is broken already
    CPPUNIT_ASSERT_EQUAL(std::string("2"), gpus(1, "fewest nodes, below free switches"));
    CPPUNIT_ASSERT_EQUAL(std::string("2,4,6"), gpus(3, "fewest nodes, below free switches"));
    snapshot = cluster(1, "servers6"); // one host bridge: nothing to choose
    const Cluster small(snapshot);
    const Gang one = gang(snapshot, 1, 1);
    GangPlacer placer(small, one, true);
    CPPUNIT_ASSERT(!on_free_domains(small, placer.rooms_of(0), one.components.front(), {{0, 1, 0, {}}}));
  }

  void what_is_short_is_said() {
    Snapshot snapshot = cluster(2, "servers6");
    const auto reason = [&](const Gang &asked) {
      const Proposal proposal = ask("pack", snapshot, asked);
      CPPUNIT_ASSERT(proposal.verdict == Verdict::no_room);
      for (const std::string &name : placing())
        CPPUNIT_ASSERT_EQUAL(proposal.reason, ask(name, snapshot, asked).reason);
      return proposal.reason;
    };
    Gang large = gang(snapshot, 1, 1);
    large.components.front().gpus.per_job = 4;
    CPPUNIT_ASSERT_EQUAL(std::string("needs 4 free GPUs for one task; at most 2 are free on any node it may use"),
                         reason(large));
    CPPUNIT_ASSERT_EQUAL(std::string("needs room for 5 workers at once; there is room for 4"),
                         reason(gang(snapshot, 1, 5)));
    Gang cores = gang(snapshot, 1, 1);
    cores.components.front().cpus_per_task = 9;
    CPPUNIT_ASSERT_EQUAL(std::string("needs 9 free CPUs for one task; at most 8 cores free on any node it may use"),
                         reason(cores));
    Gang few = gang(snapshot, 1, 4);
    few.components.front().max_nodes = 1;
    CPPUNIT_ASSERT_EQUAL(std::string("no node holds all of it now, and it may not use more than one"), reason(few));
    for (NodeState &each : snapshot.nodes) each.usable = false;
    CPPUNIT_ASSERT_EQUAL(std::string("no node it may use is up"), reason(gang(snapshot, 1, 1)));
  }

  void candidates_are_few_and_the_chosen_one_is_first() {
    Snapshot snapshot = cluster(6, "pcie8");
    run(snapshot, 90, {{0, {0, 1}}, {1, {0}}});
    run(snapshot, 91, {{2, {0, 3}}}, 4);
    for (const std::string &name : placing()) {
      const Proposal proposal = ask(name, snapshot, gang(snapshot, 1, 10, 3));
      CPPUNIT_ASSERT_MESSAGE(name, proposal.verdict == Verdict::place);
      CPPUNIT_ASSERT(!proposal.candidates.empty() && proposal.candidates.size() <= 4);
      CPPUNIT_ASSERT_EQUAL(nodes_text(proposal.plan), proposal.candidates.front().nodes);
      for (const Candidate &each : proposal.candidates) {
        CPPUNIT_ASSERT(!each.why.empty());
        if (name != "one-distributed" && name != "cons1")
          CPPUNIT_ASSERT_MESSAGE(name, each.score <= proposal.candidates.front().score);
      }
      CPPUNIT_ASSERT(!proposal.reason.empty());
    }
  }
};
CPPUNIT_TEST_SUITE_REGISTRATION(PolicyTest);

} // namespace harmony
