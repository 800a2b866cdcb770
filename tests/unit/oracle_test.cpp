#include "src/sim/truth/contention.h"
#include "src/sim/oracle/oracle.h"
#include "src/sim/oracle/oracle_model.h"
#include "tests/unit/sim_fixtures.h"

#include <cppunit/extensions/HelperMacros.h>

namespace harmony {

using namespace fixtures;

namespace {

Proposal asked(const Policy &policy, const Snapshot &snapshot, const Gang &gang, bool may_wait = true) {
  return policy.propose(Cluster(snapshot), gang, may_wait);
}

SimCluster sim_cluster_of(const Snapshot &snapshot) {
  SimCluster made;
  made.nodes = snapshot.nodes;
  made.racks.resize(made.nodes.size());
  return made;
}

double reward(const TrueModel &model, const Snapshot &snapshot, const Gang &gang, const Plan &plan) {
  const Predicted predicted = model.predict(Cluster(snapshot), gang, plan);
  return predicted.speed - predicted.lost;
}

// A few jobs on a few nodes, wherever there is room.
Snapshot random_situation(const Snapshot &empty, Random &random) {
  Snapshot snapshot = empty;
  const int jobs = random.below(5);
  for (int i = 0; i < jobs; ++i) {
    std::vector<On> where;
    for (int n = 0; n < static_cast<int>(snapshot.nodes.size()); ++n) {
      if (random.unit() < 0.5) continue;
      On on;
      on.node = n;
      const Bits &free = snapshot.nodes[static_cast<std::size_t>(n)].free_gpus;
      for (const int gpu : each(free))
        if (random.unit() < 0.3) on.gpus.push_back(gpu);
      if (!on.gpus.empty()) where.push_back(on);
    }
    if (!where.empty()) run(snapshot, static_cast<std::uint32_t>(90 + i), where);
  }
  return snapshot;
}

} // namespace

class OracleTest : public CppUnit::TestFixture {
  CPPUNIT_TEST_SUITE(OracleTest);
  CPPUNIT_TEST(greedy_goes_where_nobody_is_disturbed);
  CPPUNIT_TEST(greedy_never_waits);
  CPPUNIT_TEST(the_model_follows_the_cluster_from_round_to_round);
  CPPUNIT_TEST(the_model_sees_gangs_planned_in_the_round);
  CPPUNIT_TEST(exhaustive_is_never_worse_than_greedy);
  CPPUNIT_TEST(exhaustive_with_too_many_ways_does_as_greedy);
  CPPUNIT_TEST(exhaustive_plans_pass_the_planners_guard);
  CPPUNIT_TEST(linear_waits_for_a_better_place_but_not_for_ever);
  CPPUNIT_TEST(linear_starts_at_once_where_nothing_disturbs);
  CPPUNIT_TEST(a_longer_queue_makes_lost_time_dearer);
  CPPUNIT_TEST_SUITE_END();

  void greedy_goes_where_nobody_is_disturbed() {
    Snapshot snapshot = cluster(3, "pcie8");
    run(snapshot, 90, {{0, {0}}});
    run(snapshot, 91, {{2, {0}}});
    const auto policy = make_oracle_greedy(ShareOfNode());
    const Proposal proposal = asked(*policy, snapshot, gang(snapshot, 1, 2));
    CPPUNIT_ASSERT_EQUAL(std::string("n1 2+0"), nodes_text(proposal.plan));
    CPPUNIT_ASSERT_EQUAL(std::string("oracle-greedy"), std::string(policy->name()));
  }

  void greedy_never_waits() {
    Snapshot snapshot = cluster(1, "pcie8");
    run(snapshot, 90, {{0, {0}}});
    const auto policy = make_oracle_greedy(ShareOfNode());
    CPPUNIT_ASSERT(asked(*policy, snapshot, gang(snapshot, 1, 2)).verdict == Verdict::place);
    CPPUNIT_ASSERT(asked(*policy, snapshot, gang(snapshot, 2, 8)).verdict == Verdict::no_room);
  }

  void the_model_follows_the_cluster_from_round_to_round() {
    const TrueModel model{ShareOfNode()};
    Snapshot first = cluster(2, "pcie8"), second = cluster(2, "pcie8");
    run(first, 90, {{0, {0}}});
    run(second, 90, {{1, {0}}}); // the same job, elsewhere now
    run(second, 91, {{1, {1}}});
    const Gang one = gang(first, 1, 2);
    Plan plan = asked(*make_policy("pack"), cluster(2, "pcie8"), one).plan; // on n0
    CPPUNIT_ASSERT_EQUAL(0.5, model.predict(Cluster(first), one, plan).speed);
    CPPUNIT_ASSERT_EQUAL(0.5, model.predict(Cluster(first), one, plan).lost);
    CPPUNIT_ASSERT_EQUAL(1.0, model.predict(Cluster(second), one, plan).speed);
    CPPUNIT_ASSERT_EQUAL(0.0, model.predict(Cluster(second), one, plan).lost);
    CPPUNIT_ASSERT_EQUAL(0.5, model.predict(Cluster(first), one, plan).speed);
  }

  void the_model_sees_gangs_planned_in_the_round() {
    const TrueModel model{ShareOfNode()};
    const Snapshot snapshot = cluster(1, "pcie8");
    Cluster round(snapshot);
    const Gang one = gang(snapshot, 1, 2), two = gang(snapshot, 2, 2);
    const Plan first = make_policy("pack")->propose(round, one, false).plan;
    CPPUNIT_ASSERT_EQUAL(1.0, model.predict(round, one, first).speed);
    round.start(one, first);
    const Plan second = make_policy("pack")->propose(round, two, false).plan;
    CPPUNIT_ASSERT_EQUAL(0.5, model.predict(round, two, second).speed);
  }

  void exhaustive_is_never_worse_than_greedy() {
    Random random(11, "situations");
    int better = 0;
    for (const char *profile : {"servers6", "pcie8"}) {
      const Snapshot empty = cluster(3, profile);
      const auto rules = make_contention(sim_cluster_of(empty), JobTypes());
      const TrueModel model(*rules);
      for (int i = 0; i < 40; ++i) {
        const Snapshot snapshot = random_situation(empty, random);
        Gang one = gang(snapshot, static_cast<std::uint32_t>(i + 1), 1 + random.below(4), random.below(3));
        one.type = random.unit() < 0.5 ? "vgg16" : "resnet50";
        const auto greedy = make_oracle_greedy(*rules), exhaustive = make_oracle_exhaustive(*rules);
        const Proposal its = asked(*greedy, snapshot, one), all = asked(*exhaustive, snapshot, one);
        CPPUNIT_ASSERT(its.verdict == all.verdict);
        if (its.verdict != Verdict::place) continue;
        const double by_greedy = reward(model, snapshot, one, its.plan),
                     by_all = reward(model, snapshot, one, all.plan);
        CPPUNIT_ASSERT(by_all >= by_greedy - 2e-6);
        better += by_all > by_greedy + 1e-3;
      }
    }
    CPPUNIT_ASSERT(better > 0); // else it would be of no use
  }

  void exhaustive_with_too_many_ways_does_as_greedy() {
    Snapshot snapshot = cluster(12, "pcie8");
    for (int i = 0; i < 12; ++i) run(snapshot, static_cast<std::uint32_t>(90 + i), {{i, {i % 8}}});
    const Gang large = gang(snapshot, 1, 24, 4);
    CPPUNIT_ASSERT_EQUAL(nodes_text(asked(*make_oracle_greedy(ShareOfNode()), snapshot, large).plan),
                         nodes_text(asked(*make_oracle_exhaustive(ShareOfNode()), snapshot, large).plan));
  }

  void exhaustive_plans_pass_the_planners_guard() {
    Random random(12, "situations");
    const Snapshot empty = cluster(2, "pcie8");
    const auto rules = make_contention(sim_cluster_of(empty), JobTypes());
    for (int i = 0; i < 20; ++i) {
      Snapshot snapshot = random_situation(empty, random);
      snapshot.pending.push_back(gang(snapshot, 1, 1 + random.below(3), random.below(2)));
      const RoundResult round =
          plan_round(snapshot, *make_oracle_exhaustive(*rules), Settings(), 1, [] { return false; });
      CPPUNIT_ASSERT(round.decisions.front().verdict != Verdict::left_to_stock);
    }
  }

  void linear_waits_for_a_better_place_but_not_for_ever() {
    Snapshot snapshot = cluster(1, "pcie8");
    run(snapshot, 90, {{0, {0}}});
    snapshot.running.front().ends = now + 60;
    Gang one = gang(snapshot, 1, 2);
    one.time_limit_min = 60;
    const auto policy = make_oracle_linear(ShareOfNode(), nullptr);
    CPPUNIT_ASSERT(asked(*policy, snapshot, one).verdict == Verdict::wait);
    CPPUNIT_ASSERT(asked(*policy, snapshot, one, false).verdict == Verdict::place);
    one.eligible_since = now - 20 * 3600;
    CPPUNIT_ASSERT(asked(*policy, snapshot, one).verdict == Verdict::place);
  }

  void linear_starts_at_once_where_nothing_disturbs() {
    Snapshot snapshot = cluster(2, "pcie8");
    run(snapshot, 90, {{0, {0}}});
    snapshot.running.front().ends = now + 3600;
    Gang one = gang(snapshot, 1, 2);
    one.time_limit_min = 60;
    const Proposal proposal = asked(*make_oracle_linear(ShareOfNode(), nullptr), snapshot, one);
    CPPUNIT_ASSERT_EQUAL(std::string("n1 2+0"), nodes_text(proposal.plan));
  }

  void a_longer_queue_makes_lost_time_dearer() {
    Snapshot snapshot = cluster(1, "pcie8");
    run(snapshot, 90, {{0, {0}}});
    snapshot.running.front().ends = now + 60;
    Gang one = gang(snapshot, 1, 2);
    one.time_limit_min = 60;
    LinearWeights weights;
    weights.wait = 3;
    CPPUNIT_ASSERT(asked(*make_oracle_linear(ShareOfNode(), nullptr, weights), snapshot, one).verdict ==
                   Verdict::place);
    const auto long_queue = make_oracle_linear(
        ShareOfNode(), [] { return 30; }, weights);
    CPPUNIT_ASSERT(asked(*long_queue, snapshot, one).verdict == Verdict::wait);
  }
};
CPPUNIT_TEST_SUITE_REGISTRATION(OracleTest);

} // namespace harmony
