#include "src/plan/fit.h"
#include "src/plan/planner.h"
#include "tests/unit/plan_fixtures.h"

#include <cppunit/extensions/HelperMacros.h>

#include <algorithm>
#include <functional>
#include <random>
#include <set>

namespace harmony {

using namespace fixtures;

namespace {

// Says what it is told to.
class Puppet : public Policy {
public:
  explicit Puppet(std::function<Proposal(const Cluster &, const Gang &, bool)> says) : says_(std::move(says)) {}
  const char *name() const override { return "puppet"; }
  Proposal propose(const Cluster &cluster, const Gang &gang, bool may_wait) const override {
    return says_(cluster, gang, may_wait);
  }

private:
  std::function<Proposal(const Cluster &, const Gang &, bool)> says_;
};

bool never() { return false; }

} // namespace

class PlannerTest : public CppUnit::TestFixture {
  CPPUNIT_TEST_SUITE(PlannerTest);
  CPPUNIT_TEST(verdicts_have_the_names_that_users_read);
  CPPUNIT_TEST(gangs_are_placed_in_order_in_what_is_left);
  CPPUNIT_TEST(a_gang_that_waits_leaves_its_room_to_those_behind_it);
  CPPUNIT_TEST(nodes_that_backfill_will_keep_for_a_gang_are_not_planned_for_longer_ones);
  CPPUNIT_TEST(a_gang_is_a_neighbour_to_those_planned_after_it);
  CPPUNIT_TEST(waiting_is_bounded);
  CPPUNIT_TEST(a_policy_that_insists_on_waiting_is_overruled);
  CPPUNIT_TEST(the_time_budget_is_asked_before_each_gang);
  CPPUNIT_TEST(an_array_is_placed_copy_by_copy_until_one_is_not);
  CPPUNIT_TEST(jobs_that_are_not_planned_are_told_why);
  CPPUNIT_TEST(a_decision_tells_all_about_itself);
  CPPUNIT_TEST(masked_nodes_are_counted_by_what_keeps_them_out);
  CPPUNIT_TEST(a_wrong_plan_is_left_to_stock);
  CPPUNIT_TEST(random_rounds_take_nothing_twice_and_start_gangs_whole);
  CPPUNIT_TEST(the_same_snapshot_gives_the_same_decisions);
  CPPUNIT_TEST_SUITE_END();

  static RoundResult round_of(const std::string &policy, const Snapshot &snapshot) {
    return plan_round(snapshot, *make_policy(policy), Settings(), 7, never);
  }

  static std::string text(const RoundResult &result) {
    std::string all;
    for (const Decision &decision : result.decisions)
      all += std::to_string(decision.job) + ": " +
             (decision.verdict == Verdict::place ? nodes_text(decision.plan) : verdict_name(decision.verdict)) + "\n";
    return all;
  }

  void verdicts_have_the_names_that_users_read() {
    CPPUNIT_ASSERT_EQUAL(std::string("place"), std::string(verdict_name(Verdict::place)));
    CPPUNIT_ASSERT_EQUAL(std::string("wait"), std::string(verdict_name(Verdict::wait)));
    CPPUNIT_ASSERT_EQUAL(std::string("no_room"), std::string(verdict_name(Verdict::no_room)));
    CPPUNIT_ASSERT_EQUAL(std::string("left_to_stock"), std::string(verdict_name(Verdict::left_to_stock)));
  }

  void gangs_are_placed_in_order_in_what_is_left() {
    Snapshot snapshot = cluster(2, "pcie8");
    for (const int workers : {6, 8, 3, 2}) snapshot.pending.push_back(gang(snapshot, 10 + workers, workers));
    CPPUNIT_ASSERT_EQUAL(std::string("16: n0 6+0\n18: n1 8+0\n13: no_room\n12: n0 2+0\n"),
                         text(round_of("pack", snapshot)));
  }

  void a_gang_that_waits_leaves_its_room_to_those_behind_it() {
    Snapshot snapshot = cluster(3, "servers6");
    run(snapshot, 90, {{0, {0}}, {1, {0}}});
    snapshot.pending = {gang(snapshot, 1, 4), gang(snapshot, 2, 2), gang(snapshot, 3, 1), gang(snapshot, 4, 1)};
    CPPUNIT_ASSERT_EQUAL(std::string("1: wait\n2: n2 2+0\n3: n0 1+0\n4: n1 1+0\n"),
                         text(round_of("one-distributed", snapshot)));
  }

  void nodes_that_backfill_will_keep_for_a_gang_are_not_planned_for_longer_ones() {
    Snapshot snapshot = cluster(3, "pcie8");
    run(snapshot, 5, {{0, {0, 1, 2, 3, 4, 5, 6, 7}, 0}});
    snapshot.running.back().ends = now + 1800;
    Gang large = gang(snapshot, 10, 24), longer = gang(snapshot, 11, 4), shorter = gang(snapshot, 12, 4);
    large.time_limit_min = longer.time_limit_min = 60;
    shorter.time_limit_min = 30;
    snapshot.pending = {large, longer, shorter};
    const RoundResult result = round_of("pack", snapshot);
    CPPUNIT_ASSERT_EQUAL(std::string("10: no_room\n11: no_room\n12: n1 4+0\n"), text(result));
    CPPUNIT_ASSERT(result.decisions[1].reason.find("nodes that backfill keeps for jobs before it do not count") !=
                   std::string::npos);
    Settings without_promises;
    without_promises.promises = 0;
    CPPUNIT_ASSERT_EQUAL(std::string("10: no_room\n11: n1 4+0\n12: n1 4+0\n"),
                         text(plan_round(snapshot, *make_policy("pack"), without_promises, 7, never)));
  }

  void a_gang_is_a_neighbour_to_those_planned_after_it() {
    Snapshot snapshot = cluster(3, "servers6");
    snapshot.pending = {gang(snapshot, 1, 3), gang(snapshot, 2, 1)};
    const RoundResult result = round_of("pack", snapshot);
    CPPUNIT_ASSERT_EQUAL(std::string("1: n0 2+0, n1 1+0\n2: n1 1+0\n"), text(result));
    CPPUNIT_ASSERT(result.decisions[0].neighbours.empty());
    CPPUNIT_ASSERT_EQUAL(std::string("n1: job 1 (resnet50) 1+0, same host bridge"),
                         result.decisions[1].neighbours.at(0));
    CPPUNIT_ASSERT(result.decisions[1].predicted_speed < 1);
    // And a distributed one keeps others off.
    snapshot.pending = {gang(snapshot, 1, 3), gang(snapshot, 2, 3)};
    CPPUNIT_ASSERT_EQUAL(std::string("1: n0 2+0, n1 1+0\n2: wait\n"), text(round_of("one-distributed", snapshot)));
  }

  void waiting_is_bounded() {
    Snapshot snapshot = cluster(3, "servers6");
    run(snapshot, 90, {{0, {0}}, {1, {0}}});
    for (const std::string &name : without_model()) {
      snapshot.pending = {gang(snapshot, 1, 4)};
      snapshot.pending[0].held_since = now - 3599;
      const Decision early = round_of(name, snapshot).decisions.at(0);
      if (name == "one-distributed" || name == "cons1") CPPUNIT_ASSERT(early.verdict == Verdict::wait);
      if (early.verdict == Verdict::wait) CPPUNIT_ASSERT_EQUAL(now + 1, early.wait_until);
      snapshot.pending[0].held_since = now - 3600;
      const Decision late = round_of(name, snapshot).decisions.at(0);
      CPPUNIT_ASSERT_MESSAGE(name, late.verdict == (name == "stock" ? Verdict::left_to_stock : Verdict::place));
    }
  }

  void a_policy_that_insists_on_waiting_is_overruled() {
    Snapshot snapshot = cluster(1, "servers6");
    snapshot.pending = {gang(snapshot, 1, 1)};
    snapshot.pending[0].held_since = now - 3600;
    const Puppet stubborn([](const Cluster &, const Gang &, bool may_wait) {
      CPPUNIT_ASSERT(!may_wait);
      return Proposal{Verdict::wait, {}, "for better times", {}};
    });
    const RoundResult result = plan_round(snapshot, stubborn, Settings(), 1, never);
    CPPUNIT_ASSERT(result.decisions.at(0).verdict == Verdict::left_to_stock);
  }

  void the_time_budget_is_asked_before_each_gang() {
    Snapshot snapshot = cluster(4, "pcie8");
    for (std::uint32_t job = 1; job <= 5; ++job) snapshot.pending.push_back(gang(snapshot, job, 1));
    int asked = 0;
    const RoundResult some = plan_round(snapshot, *make_policy("pack"), Settings(), 1, [&] { return ++asked > 2; });
    CPPUNIT_ASSERT_EQUAL(std::size_t{2}, some.decisions.size());
    CPPUNIT_ASSERT_EQUAL(3, some.not_reached);
    CPPUNIT_ASSERT_EQUAL(0, round_of("pack", snapshot).not_reached);
    const RoundResult none = plan_round(snapshot, *make_policy("pack"), Settings(), 1, [] { return true; });
    CPPUNIT_ASSERT(none.decisions.empty());
    CPPUNIT_ASSERT_EQUAL(5, none.not_reached);
  }

  void an_array_is_placed_copy_by_copy_until_one_is_not() {
    Snapshot snapshot = cluster(2, "servers6");
    snapshot.pending = {gang(snapshot, 1, 1), gang(snapshot, 2, 1)};
    snapshot.pending[0].copies = 3;
    CPPUNIT_ASSERT_EQUAL(std::string("1: n0 1+0\n1: n0 1+0\n1: n1 1+0\n2: n1 1+0\n"), text(round_of("pack", snapshot)));
    snapshot.pending[0].copies = 100;
    CPPUNIT_ASSERT_EQUAL(std::string("1: n0 1+0\n1: n0 1+0\n1: n1 1+0\n1: n1 1+0\n1: no_room\n2: no_room\n"),
                         text(round_of("pack", snapshot)));
  }

  void jobs_that_are_not_planned_are_told_why() {
    Snapshot snapshot = cluster(1, "servers6");
    snapshot.left.push_back({5, 1000, "vgg16", "--contiguous", {}});
    const Decision decision = round_of("pack", snapshot).decisions.at(0);
    CPPUNIT_ASSERT_EQUAL(std::uint32_t{5}, decision.job);
    CPPUNIT_ASSERT_EQUAL(std::uint32_t{1000}, decision.user);
    CPPUNIT_ASSERT(decision.verdict == Verdict::left_to_stock);
    CPPUNIT_ASSERT_EQUAL(std::string("--contiguous"), decision.reason);
  }

  void a_decision_tells_all_about_itself() {
    Snapshot snapshot = cluster(2, "pcie8");
    snapshot.pending = {gang(snapshot, 3, 4, 1)};
    snapshot.pending[0].user = 1234;
    const Decision decision = round_of("pack", snapshot).decisions.at(0);
    CPPUNIT_ASSERT_EQUAL(std::uint32_t{3}, decision.job);
    CPPUNIT_ASSERT_EQUAL(std::uint32_t{1234}, decision.user);
    CPPUNIT_ASSERT_EQUAL(std::string("resnet50"), decision.type);
    CPPUNIT_ASSERT_EQUAL(std::string("pack"), decision.policy);
    CPPUNIT_ASSERT_EQUAL(std::uint64_t{7}, decision.round);
    CPPUNIT_ASSERT_EQUAL(now, decision.decided);
    CPPUNIT_ASSERT_EQUAL(std::string("n0 4+1"), decision.candidates.at(0).nodes);
    CPPUNIT_ASSERT_EQUAL(1.0, decision.predicted_speed);
    CPPUNIT_ASSERT(!decision.reason.empty());
  }

  void masked_nodes_are_counted_by_what_keeps_them_out() {
    Snapshot snapshot = cluster({"servers6", "servers6", "servers6", "nogpu", "servers6"});
    run(snapshot, 90, {{0, {0, 1}}});
    run(snapshot, 91, {{1, {0, 1}}});
    snapshot.pending = {gang(snapshot, 1, 2)};
    const Decision decision = round_of("pack", snapshot).decisions.at(0);
    CPPUNIT_ASSERT(decision.verdict == Verdict::place);
    CPPUNIT_ASSERT_EQUAL(std::size_t{2}, decision.masked.size());
    CPPUNIT_ASSERT_EQUAL(2, decision.masked[0].nodes); // the biggest group first
    CPPUNIT_ASSERT_EQUAL(what_masks(snapshot.nodes[0], 0, snapshot.pending[0].components[0], true),
                         decision.masked[0].by);
    CPPUNIT_ASSERT_EQUAL(1, decision.masked[1].nodes);
  }

  void a_wrong_plan_is_left_to_stock() {
    Snapshot snapshot = cluster(2, "pcie8");
    run(snapshot, 90, {{0, {0, 1}}});
    snapshot.pending = {gang(snapshot, 1, 4, 1)};
    const Proposal good = ask("pack", snapshot, snapshot.pending[0]);
    const auto reason_of = [&](const std::function<void(Plan &)> &spoil) {
      const Puppet wrong([&](const Cluster &, const Gang &, bool) {
        Proposal proposal = good;
        spoil(proposal.plan);
        return proposal;
      });
      const Decision decision = plan_round(snapshot, wrong, Settings(), 1, never).decisions.at(0);
      if (decision.verdict == Verdict::place) return std::string("placed");
      CPPUNIT_ASSERT(decision.verdict == Verdict::left_to_stock);
      CPPUNIT_ASSERT(decision.plan.placements.empty());
      const std::string opening = "policy puppet gave a plan that does not fit: ";
      CPPUNIT_ASSERT_EQUAL(opening, decision.reason.substr(0, opening.size()));
      return decision.reason.substr(opening.size());
    };
    const auto first = [](Plan &plan) -> Placement & { return plan.placements.front(); };
    using Text = std::string;
    CPPUNIT_ASSERT_EQUAL(Text("placed"), reason_of([](Plan &) {}));
    CPPUNIT_ASSERT_EQUAL(Text("it is empty"), reason_of([](Plan &plan) { plan.placements.clear(); }).substr(0, 11));
    CPPUNIT_ASSERT_EQUAL(Text("3+1 tasks instead of 4+1"), reason_of([&](Plan &plan) { --first(plan).workers; }));
    CPPUNIT_ASSERT_EQUAL(Text("no such node"), reason_of([&](Plan &plan) { first(plan).node = 2; }));
    CPPUNIT_ASSERT_EQUAL(Text("no such component"), reason_of([&](Plan &plan) { first(plan).component = 1; }));
    CPPUNIT_ASSERT_EQUAL(Text("wrong cores on node n0"),
                         reason_of([&](Plan &plan) { first(plan).cores.clear(first(plan).cores.first()); }));
    CPPUNIT_ASSERT_EQUAL(Text("wrong cores on node n0"), reason_of([&](Plan &plan) { // another job's
                           first(plan).cores.clear(first(plan).cores.first());
                           first(plan).cores.set(0);
                         }));
    CPPUNIT_ASSERT_EQUAL(Text("wrong GPUs on node n0"), reason_of([&](Plan &plan) {
                           first(plan).gpus.clear(first(plan).gpus.first());
                           first(plan).gpus.set(0);
                         }));
    CPPUNIT_ASSERT_EQUAL(Text("node n0 twice"), reason_of([&](Plan &plan) {
                           Placement half = first(plan);
                           half.ps = 0;
                           first(plan).workers = 0;
                           plan.placements.push_back(half);
                         }));
    snapshot.pending[0].components[0].eligible.clear(0);
    CPPUNIT_ASSERT_EQUAL(Text("node n0 is not eligible"), reason_of([](Plan &) {}));
  }

  // Clusters and queues of all kinds, odd ones among them.
  static Snapshot random_snapshot(std::mt19937 &random) {
    const auto below = [&](int end) { return static_cast<int>(random() % static_cast<unsigned>(end)); };
    const std::vector<std::string> kinds{"pcie8", "servers6", "dgx1", "epyc4", "nogpu", "gh200"};
    std::vector<std::string> profiles;
    for (int node = 2 + below(9); node > 0; --node)
      profiles.push_back(kinds[static_cast<std::size_t>(below(static_cast<int>(kinds.size())))]);
    Snapshot snapshot = cluster(profiles);
    snapshot.memory_counts = below(4) > 0;
    const int nodes = static_cast<int>(snapshot.nodes.size());
    for (NodeState &each : snapshot.nodes) {
      each.weight = 1 + below(2);
      each.usable = below(10) > 0;
      each.threads_per_core = 1 + below(2);
    }
    for (std::uint32_t job = 500; job < 500 + static_cast<std::uint32_t>(below(6)); ++job) {
      const int node = below(nodes);
      NodeState &here = snapshot.nodes[static_cast<std::size_t>(node)];
      if (here.free_gpus.any()) run(snapshot, job, {{node, {here.free_gpus.first()}}, {(node + 1) % nodes, {}, 1}});
    }
    for (std::uint32_t job = 1; job <= 20; ++job) {
      const int workers = 1 + below(10), ps = below(3);
      Gang made = below(4) && ps ? hetjob(snapshot, job * 10, workers, ps) : gang(snapshot, job * 10, workers, ps);
      for (Component &each : made.components) vary(each, nodes, below);
      made.eligible_since = now - below(1200);
      made.copies = below(6) ? 1 : 3;
      snapshot.pending.push_back(made);
    }
    return snapshot;
  }

  template <class Below> static void vary(Component &component, int nodes, Below below) {
    component.cpus_per_task = 1 + below(4);
    component.one_task_a_core = below(2);
    if (below(3) == 0) component.memory_per_cpu_mb = static_cast<std::uint64_t>(1000 * (1 + below(8)));
    if (below(5) == 0) component.min_nodes = 1 + below(std::min(3, component.tasks()));
    if (below(5) == 0) component.max_nodes = component.min_nodes + below(2);
    if (below(5) == 0) component.tasks_per_node = 1 + below(4);
    if (below(8) == 0) component.whole_nodes = true;
    if (below(6) == 0) component.required.set(below(nodes));
    if (component.workers && below(8) == 0) {
      component.gpus = {};
      component.gpus.per_node = 1 + below(3);
    }
    for (int node = 0; node < nodes; ++node)
      if (below(10) == 0 && !component.required.test(node)) component.eligible.clear(node);
  }

  struct Account { // what is free on a node, kept by the test itself
    Bits cores, gpus;
    std::uint64_t memory_mb = 0;
    bool whole = false;
  };

  static void check_and_take(const Snapshot &snapshot, const Gang &gang, const Decision &decision,
                             std::vector<Account> &accounts) {
    std::vector<std::set<int>> nodes(gang.components.size());
    std::vector<int> workers(gang.components.size()), ps(gang.components.size());
    for (const Placement &placement : decision.plan.placements) {
      const auto index = static_cast<std::size_t>(placement.component);
      const Component &component = gang.components[index];
      const NodeState &node = snapshot.nodes[static_cast<std::size_t>(placement.node)];
      Account &account = accounts[static_cast<std::size_t>(placement.node)];
      CPPUNIT_ASSERT(node.usable && component.eligible.test(placement.node) && !account.whole);
      CPPUNIT_ASSERT(account.cores.contains(placement.cores) && account.gpus.contains(placement.gpus));
      account.cores -= placement.cores;
      account.gpus -= placement.gpus;
      const int tasks = placement.tasks();
      CPPUNIT_ASSERT(placement.cores.count() * node.threads_per_core >= tasks * component.cpus_per_task);
      const int gpus = placement.workers * (component.gpus.per_job ? 1 : 0) + component.gpus.per_node;
      CPPUNIT_ASSERT(component.whole_nodes ? placement.gpus.count() >= gpus : placement.gpus.count() == gpus);
      CPPUNIT_ASSERT(tasks > 0 && (!component.tasks_per_node || tasks <= component.tasks_per_node));
      if (snapshot.memory_counts && !component.whole_nodes) {
        const std::uint64_t memory =
            component.memory_per_cpu_mb * static_cast<std::uint64_t>(placement.cores.count() * node.threads_per_core);
        CPPUNIT_ASSERT(memory <= account.memory_mb);
        account.memory_mb -= memory;
      }
      account.whole = component.whole_nodes;
      CPPUNIT_ASSERT(nodes[index].insert(placement.node).second);
      workers[index] += placement.workers;
      ps[index] += placement.ps;
    }
    for (std::size_t i = 0; i < gang.components.size(); ++i) {
      const Component &component = gang.components[i];
      CPPUNIT_ASSERT_EQUAL(component.workers, workers[i]);
      CPPUNIT_ASSERT_EQUAL(component.ps, ps[i]);
      CPPUNIT_ASSERT(static_cast<int>(nodes[i].size()) >= component.min_nodes);
      CPPUNIT_ASSERT(!component.max_nodes || static_cast<int>(nodes[i].size()) <= component.max_nodes);
      for (const int node : each(component.required)) CPPUNIT_ASSERT(nodes[i].count(node));
    }
  }

  void random_rounds_take_nothing_twice_and_start_gangs_whole() {
    int placed = 0, not_placed = 0;
    for (unsigned seed = 1; seed <= 60; ++seed) {
      std::mt19937 random(seed);
      const Snapshot snapshot = random_snapshot(random);
      for (const std::string &name : without_model()) {
        std::vector<Account> accounts;
        for (const NodeState &node : snapshot.nodes)
          accounts.push_back({node.free_cores, node.free_gpus, node.free_memory_mb, node.whole_taken});
        for (const Decision &decision : round_of(name, snapshot).decisions) {
          CPPUNIT_ASSERT_MESSAGE(decision.reason, decision.reason.find("does not fit:") == std::string::npos);
          if (decision.verdict != Verdict::place) {
            CPPUNIT_ASSERT(decision.plan.placements.empty() && !decision.reason.empty());
            ++not_placed;
            continue;
          }
          ++placed;
          const auto gang = std::find_if(snapshot.pending.begin(), snapshot.pending.end(),
                                         [&](const Gang &each) { return each.job == decision.job; });
          check_and_take(snapshot, *gang, decision, accounts);
          CPPUNIT_ASSERT(decision.predicted_speed > 0 && decision.predicted_speed <= 1);
        }
      }
    }
    // Neither may be rare, or nothing was tested.
    CPPUNIT_ASSERT(placed > 500 && not_placed > 500);
  }

  void the_same_snapshot_gives_the_same_decisions() {
    for (unsigned seed = 100; seed < 110; ++seed) {
      std::mt19937 one(seed), two(seed);
      for (const std::string &name : without_model())
        CPPUNIT_ASSERT_EQUAL(text(round_of(name, random_snapshot(one))), text(round_of(name, random_snapshot(two))));
    }
  }
};
CPPUNIT_TEST_SUITE_REGISTRATION(PlannerTest);

} // namespace harmony
