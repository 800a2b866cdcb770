// What may not be done is not done, whatever a model says: one that answers at random places gangs in random clusters,
// task by task, a million times.

#include "src/policy/learned.h"
#include "tests/unit/linear_model.h"
#include "tests/unit/plan_fixtures.h"

#include <cppunit/extensions/HelperMacros.h>

#include <random>

namespace harmony {

using namespace fixtures;

namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr int tasks_to_place = 30000; // the same, ten times as slow
#else
constexpr int tasks_to_place = 1000000;
#endif

class Dice {
public:
  explicit Dice(unsigned seed) : random_(seed) {}
  int below(int limit) { return static_cast<int>(random_() % static_cast<unsigned>(limit)); }
  bool one_in(int many) { return below(many) == 0; }

private:
  std::mt19937 random_;
};

class RandomModel : public Model {
public:
  std::vector<float> score_candidates(const JobRow &, const Rows &rows) override { return scores(rows); }
  std::vector<float> score_gangs(const JobRow &, const Rows &rows) override { return scores(rows); }

private:
  std::vector<float> scores(const Rows &rows) {
    std::vector<float> all;
    for (int i = 0; i < rows.count; ++i) all.push_back(static_cast<float>(dice_.below(1000)));
    return all;
  }
  Dice dice_{11};
};

// Busy, broken and forbidden nodes among them.
Snapshot random_cluster(Dice &dice) {
  const std::vector<std::string> kinds{"pcie8", "servers6", "quad4", "nogpu"};
  std::vector<std::string> profiles;
  for (int i = 2 + dice.below(4); i > 0; --i) profiles.push_back(kinds[static_cast<std::size_t>(dice.below(4))]);
  Snapshot snapshot = cluster(profiles);
  for (std::size_t i = 0; i < snapshot.nodes.size(); ++i) {
    std::vector<int> gpus;
    for (int gpu = 0; gpu < snapshot.nodes[i].free_gpus.size(); ++gpu)
      if (dice.one_in(3)) gpus.push_back(gpu);
    if (!gpus.empty()) run(snapshot, 100 + static_cast<std::uint32_t>(i), {{static_cast<int>(i), gpus, 0}});
    snapshot.nodes[i].usable = !dice.one_in(8);
    if (dice.one_in(8)) snapshot.nodes[i].topology = nullptr;
  }
  return snapshot;
}

Gang random_gang(const Snapshot &snapshot, Dice &dice) {
  Gang asks = gang(snapshot, 1, 1 + dice.below(6), dice.one_in(2) ? dice.below(3) : 0);
  Component &its = asks.components.front();
  if (dice.one_in(4)) its.gpus.per_job *= 2;
  if (dice.one_in(4)) its.max_nodes = 1 + dice.below(3);
  if (dice.one_in(4)) its.tasks_per_node = 1 + dice.below(3);
  if (dice.one_in(3)) its.eligible.clear(dice.below(its.eligible.size()));
  its.cpus_per_task = 1 + dice.below(3);
  return asks;
}

// Counted anew, by nothing that planning uses.
std::string problem_with(const Cluster &cluster, const Gang &gang, const Plan &plan) {
  const Component &asks = gang.components.front();
  int workers = 0, ps = 0, gpus = 0;
  for (const Placement &each : plan.placements) {
    const NodeState &node = cluster.node(each.node);
    if (!node.usable || !asks.eligible.test(each.node)) return "a node that may not be used";
    if (!node.free_gpus.contains(each.gpus) || !node.free_cores.contains(each.cores)) return "what is not free";
    if (each.cores.count() * node.threads_per_core < each.tasks() * asks.cpus_per_task) return "too few cores";
    if (asks.tasks_per_node && each.tasks() > asks.tasks_per_node) return "too many tasks on a node";
    workers += each.workers;
    ps += each.ps;
    gpus += each.gpus.count();
  }
  if (workers != asks.workers || ps != asks.ps || gpus != asks.gpus.per_job) return "not the whole gang";
  if (asks.max_nodes && static_cast<int>(plan.placements.size()) > asks.max_nodes) return "too many nodes";
  return {};
}

} // namespace

class MasksTest : public CppUnit::TestFixture {
  CPPUNIT_TEST_SUITE(MasksTest);
  CPPUNIT_TEST(a_million_tasks_placed_at_random_take_only_what_may_be_taken);
  CPPUNIT_TEST_SUITE_END();

  void a_million_tasks_placed_at_random_take_only_what_may_be_taken() {
    const ReadyModel model{std::make_shared<RandomModel>(), manifest()};
    Settings task_by_task;
    task_by_task.candidates = 1;
    Dice dice(5);
    int placed = 0;
    std::uint64_t by_model = 0;
    while (placed < tasks_to_place) {
      const Snapshot snapshot = random_cluster(dice);
      Cluster cluster(snapshot);
      ModelUse use;
      const auto policy = make_learned(snapshot, task_by_task, model, use);
      for (int i = 0; i < 12; ++i) {
        const Gang asks = random_gang(snapshot, dice);
        const Proposal proposal = policy->propose(cluster, asks, false);
        if (proposal.verdict != Verdict::place) continue;
        CPPUNIT_ASSERT_EQUAL(std::string(), problem_with(cluster, asks, proposal.plan));
        cluster.start(asks, proposal.plan);
        placed += asks.workers() + asks.ps();
      }
      by_model += use.by_model;
    }
    CPPUNIT_ASSERT(by_model > static_cast<std::uint64_t>(tasks_to_place) / 20); // it was really asked
  }
};

CPPUNIT_TEST_SUITE_REGISTRATION(MasksTest);

} // namespace harmony
