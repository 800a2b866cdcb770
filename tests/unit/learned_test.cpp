#include "src/policy/learned.h"
#include "src/policy/model_rounds.h"
#include "tests/unit/linear_model.h"
#include "tests/unit/plan_fixtures.h"

#include <cppunit/extensions/HelperMacros.h>

#include <cmath>
#include <condition_variable>
#include <limits>
#include <mutex>

namespace harmony {

using namespace fixtures;

namespace {

// A cluster, a model and a policy that goes by it.
struct Asked {
  Asked(const Snapshot &snapshot, const ReadyModel &its_model, const Settings &settings = {})
      : cluster(snapshot), model(its_model), policy(make_learned(snapshot, settings, model, use)) {}

  Proposal ask(const Gang &gang, bool may_wait = true) { return policy->propose(cluster, gang, may_wait); }
  std::string where(const Gang &gang) {
    const Proposal proposal = ask(gang);
    return proposal.verdict == Verdict::place ? nodes_text(proposal.plan) : verdict_name(proposal.verdict);
  }
  std::uint64_t faults(ModelFault fault) const { return use.faults[static_cast<std::size_t>(fault)]; }

  Cluster cluster;
  ReadyModel model;
  ModelUse use;
  std::unique_ptr<Policy> policy;
};

// Answers as it is told.
class OddModel : public Model {
public:
  using Answer = std::function<std::vector<float>(const Rows &)>;
  explicit OddModel(Answer answer) : answer_(std::move(answer)) {}
  std::vector<float> score_candidates(const JobRow &, const Rows &rows) override { return answer_(rows); }
  std::vector<float> score_gangs(const JobRow &, const Rows &rows) override { return answer_(rows); }

private:
  Answer answer_;
};

ReadyModel odd(OddModel::Answer answer) { return {std::make_shared<OddModel>(std::move(answer)), manifest()}; }
std::vector<float> constant(const Rows &rows, float score) {
  return std::vector<float>(static_cast<std::size_t>(rows.count), score);
}

} // namespace

class LearnedTest : public CppUnit::TestFixture {
  CPPUNIT_TEST_SUITE(LearnedTest);
  CPPUNIT_TEST(a_model_that_packs_packs);
  CPPUNIT_TEST(a_model_that_spreads_spreads);
  CPPUNIT_TEST(a_model_that_waits_waits_and_not_beyond_its_time);
  CPPUNIT_TEST(a_gang_without_room_is_told_so_and_the_model_is_not_asked);
  CPPUNIT_TEST(the_domain_of_the_best_score_is_where_the_gpus_are);
  CPPUNIT_TEST(the_model_places_task_by_task_what_no_heuristic_proposes);
  CPPUNIT_TEST(whole_gangs_are_compared_and_told);
  CPPUNIT_TEST(each_different_candidate_is_scored_once);
  CPPUNIT_TEST(permuting_nodes_permutes_the_plan_and_nothing_else);
  CPPUNIT_TEST(hetjobs_exclusive_jobs_and_jobs_with_gpus_by_node_are_placed_whole);
  CPPUNIT_TEST(limits_on_nodes_are_kept);
  CPPUNIT_TEST(a_cluster_of_more_states_than_may_be_scored_is_placed_all_the_same);
  CPPUNIT_TEST(whatever_is_wrong_with_an_answer_the_heuristic_places_the_gang);
  CPPUNIT_TEST(a_feature_beyond_the_ranges_of_training_is_out_of_distribution);
  CPPUNIT_TEST(several_faults_in_a_row_open_the_breaker);
  CPPUNIT_TEST(a_probe_in_shadow_closes_it_again);
  CPPUNIT_TEST(a_plan_that_does_not_fit_is_replaced_by_the_heuristics);
  CPPUNIT_TEST(a_round_without_a_model_is_the_heuristics);
  CPPUNIT_TEST(a_stuck_model_is_waited_for_once_and_a_new_one_is_asked_at_once);
  CPPUNIT_TEST_SUITE_END();

  void a_model_that_packs_packs() {
    Snapshot snapshot = cluster(3, "pcie8");
    run(snapshot, 9, {{1, {0, 1, 2, 3}, 0}});
    Asked asked(snapshot, packs());
    CPPUNIT_ASSERT_EQUAL(std::string("n1 4+0"), asked.where(gang(snapshot, 1, 4)));
    CPPUNIT_ASSERT_EQUAL(std::uint64_t{1}, asked.use.by_model);
  }

  void a_model_that_spreads_spreads() {
    const Snapshot snapshot = cluster(4, "pcie8");
    Asked asked(snapshot, spreads());
    CPPUNIT_ASSERT_EQUAL(std::string("n0 1+0, n1 1+0, n2 1+0, n3 1+0"), asked.where(gang(snapshot, 1, 4)));
  }

  void a_model_that_waits_waits_and_not_beyond_its_time() {
    const Snapshot snapshot = cluster(2, "pcie8");
    Asked asked(snapshot, waits());
    const Proposal waiting = asked.ask(gang(snapshot, 1, 4));
    CPPUNIT_ASSERT(waiting.verdict == Verdict::wait);
    CPPUNIT_ASSERT_EQUAL(
        std::string("waiting is better by model linear version 1: 1.000 against 0.000 for the best place now"),
        waiting.reason);
    CPPUNIT_ASSERT(asked.ask(gang(snapshot, 1, 4), false).verdict == Verdict::place);
  }

  void a_gang_without_room_is_told_so_and_the_model_is_not_asked() {
    const Snapshot snapshot = cluster(1, "pcie8");
    Asked asked(snapshot, odd([](const Rows &) -> std::vector<float> { throw ModelFailed("asked"); }));
    CPPUNIT_ASSERT(asked.ask(gang(snapshot, 1, 9)).verdict == Verdict::no_room);
    CPPUNIT_ASSERT_EQUAL(std::uint64_t{0}, asked.faults(ModelFault::failed));
  }

  void the_domain_of_the_best_score_is_where_the_gpus_are() {
    Snapshot snapshot = cluster(1, "pcie8");
    run(snapshot, 9, {{0, {0, 6}, 0}});
    const auto placed = [&](float weight) {
      Asked asked(snapshot, ready({{"domain_left_after", weight}}, {{"wait", -9}, {"domains", -weight}}));
      return asked.ask(gang(snapshot, 1, 2)).plan.placements.front().gpus;
    };
    // The two halves that others left, or a switch of its own.
    const Bits left_over = placed(-1), together = placed(1);
    CPPUNIT_ASSERT(left_over.test(1) && left_over.test(7));
    CPPUNIT_ASSERT_EQUAL(
        snapshot.nodes[0].topology->gpus[static_cast<std::size_t>(together.first())].domain,
        snapshot.nodes[0].topology->gpus[static_cast<std::size_t>(together.next(together.first() + 1))].domain);
  }

  void the_model_places_task_by_task_what_no_heuristic_proposes() {
    // Three and one: neither as few nodes as can be nor evenly.
    Snapshot snapshot = cluster(3, "pcie8");
    run(snapshot, 9, {{0, {0, 1, 2, 3, 4}, 0}});
    Asked asked(snapshot, ready({{"free_gpus", -1}}, {{"nodes", 1}, {"wait", -9}}));
    CPPUNIT_ASSERT_EQUAL(std::string("n0 3+0, n1 1+0"), asked.where(gang(snapshot, 1, 4)));
  }

  void whole_gangs_are_compared_and_told() {
    Snapshot snapshot = cluster(4, "pcie8");
    run(snapshot, 9, {{0, {0, 1}, 0}, {1, {0, 1}, 0}});
    Asked asked(snapshot, packs());
    const Proposal proposal = asked.ask(gang(snapshot, 1, 4, 2));
    CPPUNIT_ASSERT(proposal.candidates.size() >= 2);
    CPPUNIT_ASSERT_EQUAL(nodes_text(proposal.plan), proposal.candidates.front().nodes);
    for (std::size_t i = 1; i < proposal.candidates.size(); ++i)
      CPPUNIT_ASSERT(proposal.candidates[i - 1].score >= proposal.candidates[i].score);
    CPPUNIT_ASSERT(proposal.reason.find("by model linear version 1") != std::string::npos);
    CPPUNIT_ASSERT(proposal.reason.find("waiting has -9.000") != std::string::npos);
  }

  void each_different_candidate_is_scored_once() {
    const Snapshot snapshot = cluster(500, "pcie8");
    Asked asked(snapshot, spreads());
    CPPUNIT_ASSERT(asked.ask(gang(snapshot, 1, 8)).verdict == Verdict::place);
    const auto &model = static_cast<const LinearModel &>(*asked.model.model);
    CPPUNIT_ASSERT_EQUAL(1, model.calls.front().count); // 500 idle nodes with 4 switches each
    std::set<std::vector<float>> seen;
    int rows = 0;
    for (const Rows &call : model.calls)
      for (int i = 0; i < call.count; ++i, ++rows)
        seen.emplace(call.values.begin() + i * call.width, call.values.begin() + (i + 1) * call.width);
    CPPUNIT_ASSERT_EQUAL(static_cast<std::size_t>(rows), seen.size());
  }

  void permuting_nodes_permutes_the_plan_and_nothing_else() {
    // No two nodes are alike, so that none is preferred for its number.
    Snapshot snapshot = cluster({"pcie8", "pcie8", "dgx1", "pcie8", "dgx2"});
    run(snapshot, 9, {{0, {0, 1, 2}, 0}});
    run(snapshot, 10, {{2, {0}, 0}, {1, {3, 4}, 0}});
    Snapshot other = snapshot;
    std::reverse(other.nodes.begin(), other.nodes.end());
    const Gang asks = gang(snapshot, 1, 5);
    for (const ReadyModel &model : {packs(), ready({{"nic_load", -2}, {"gpus", -1}}, {{"wait", -9}, {"speed", 1}})}) {
      Asked one(snapshot, model), two(other, model);
      CPPUNIT_ASSERT_EQUAL(one.where(asks), two.where(asks));
    }
  }

  void hetjobs_exclusive_jobs_and_jobs_with_gpus_by_node_are_placed_whole() {
    Snapshot snapshot = cluster(24, "pcie8");
    run(snapshot, 9, {{0, {0, 1}, 0}});
    Gang exclusive = gang(snapshot, 2, 8), by_node = gang(snapshot, 3, 4);
    exclusive.components.front().whole_nodes = true;
    by_node.components.front().gpus = {};
    by_node.components.front().gpus.per_node = 3;
    by_node.components.front().min_nodes = 2;
    Snapshot pending = snapshot;
    pending.pending = {hetjob(snapshot, 1, 4, 2), exclusive, by_node};
    for (const ReadyModel &model : {packs(), spreads()}) {
      ModelUse use;
      const auto policy = make_learned(pending, Settings(), model, use);
      const RoundResult result = plan_round(pending, *policy, Settings(), 1, [] { return false; });
      for (const Decision &decision : result.decisions) {
        CPPUNIT_ASSERT_MESSAGE(decision.reason, decision.verdict == Verdict::place);
        CPPUNIT_ASSERT_EQUAL(std::string("learned"), decision.policy);
      }
      CPPUNIT_ASSERT_EQUAL(std::uint64_t{3}, use.by_model);
    }
  }

  void limits_on_nodes_are_kept() {
    Snapshot snapshot = cluster(6, "pcie8");
    Gang one = gang(snapshot, 1, 6), required = gang(snapshot, 2, 3), many = gang(snapshot, 3, 4);
    one.components.front().max_nodes = 1;
    required.components.front().required.set(4);
    many.components.front().min_nodes = 4;
    run(snapshot, 9, {{0, {0, 1, 2, 3}, 0}});
    for (const ReadyModel &model : {packs(), spreads()}) {
      Asked asked(snapshot, model);
      CPPUNIT_ASSERT_EQUAL(std::size_t{1}, nodes_used(asked.ask(one)));
      const std::vector<int> nodes = nodes_of(asked.ask(required).plan);
      CPPUNIT_ASSERT(std::count(nodes.begin(), nodes.end(), 4));
      CPPUNIT_ASSERT_EQUAL(std::size_t{4}, nodes_used(asked.ask(many)));
      CPPUNIT_ASSERT_EQUAL(std::uint64_t{3}, asked.use.by_model);
    }
  }

  void a_cluster_of_more_states_than_may_be_scored_is_placed_all_the_same() {
    constexpr int nodes = 600;
    Snapshot snapshot = cluster(nodes, "pcie8");
    for (int i = 0; i < nodes; ++i) {
      run(snapshot, static_cast<std::uint32_t>(i + 1), {{i, {i % 8}, 0}});
      snapshot.running.back().model_kb = static_cast<std::uint32_t>(1000 * (i + 1));
    }
    snapshot.pending.assign(5000, gang(snapshot, 1, 1)); // so many wait that few rows are for each
    Asked asked(snapshot, spreads());
    CPPUNIT_ASSERT(asked.ask(gang(snapshot, 1, 12)).verdict == Verdict::place);
    CPPUNIT_ASSERT_EQUAL(std::uint64_t{1}, asked.use.by_model);
    const auto &model = static_cast<const LinearModel &>(*asked.model.model);
    CPPUNIT_ASSERT(model.calls.front().count < 400);
  }

  void whatever_is_wrong_with_an_answer_the_heuristic_places_the_gang() {
    const float nan = std::numeric_limits<float>::quiet_NaN(), inf = std::numeric_limits<float>::infinity();
    const std::vector<std::pair<ModelFault, OddModel::Answer>> wrong{
        {ModelFault::not_finite, [=](const Rows &rows) { return constant(rows, nan); }},
        {ModelFault::not_finite, [=](const Rows &rows) { return constant(rows, -inf); }},
        {ModelFault::wrong_shape,
         [](const Rows &rows) { return std::vector<float>(static_cast<std::size_t>(rows.count) + 1); }},
        {ModelFault::wrong_shape, [](const Rows &) -> std::vector<float> { throw ModelShapeWrong("a scalar"); }},
        {ModelFault::failed, [](const Rows &) -> std::vector<float> { throw ModelFailed("index out of range"); }},
        {ModelFault::failed, [](const Rows &) -> std::vector<float> { throw std::bad_alloc(); }}};
    const Snapshot snapshot = cluster(2, "pcie8");
    const Gang asks = gang(snapshot, 7, 4);
    for (const auto &[fault, answer] : wrong) {
      Asked asked(snapshot, odd(answer));
      const Proposal proposal = asked.ask(asks);
      CPPUNIT_ASSERT_EQUAL(where("pack", snapshot, asks), nodes_text(proposal.plan));
      CPPUNIT_ASSERT_EQUAL(std::string("pack"), proposal.policy);
      CPPUNIT_ASSERT(proposal.reason.find("(not by the model: ") != std::string::npos);
      CPPUNIT_ASSERT_EQUAL(std::uint64_t{1}, asked.faults(fault));
      CPPUNIT_ASSERT_EQUAL(std::uint64_t{0}, asked.use.by_model);
      CPPUNIT_ASSERT_EQUAL(std::string("JobId=7: "), asked.use.lines[static_cast<std::size_t>(fault)].substr(0, 9));
    }
  }

  void a_feature_beyond_the_ranges_of_training_is_out_of_distribution() {
    const Snapshot snapshot = cluster(2, "pcie8");
    for (auto Manifest::*part : {&Manifest::job, &Manifest::candidates, &Manifest::gangs}) {
      ReadyModel model = packs();
      FeatureRange &range = (model.manifest.*part)[part == &Manifest::gangs ? gang_column::speed : 0];
      range.low = 1.5;
      range.high = 2;
      Asked asked(snapshot, model);
      const Proposal proposal = asked.ask(gang(snapshot, 1, 4));
      CPPUNIT_ASSERT_EQUAL(std::uint64_t{1}, asked.faults(ModelFault::out_of_distribution));
      CPPUNIT_ASSERT(proposal.reason.find(range.name) != std::string::npos);
      CPPUNIT_ASSERT(proposal.verdict == Verdict::place);
    }
  }

  void several_faults_in_a_row_open_the_breaker() {
    int asked_for = 0;
    const Snapshot snapshot = cluster(2, "pcie8");
    Asked asked(snapshot, odd([&asked_for](const Rows &) -> std::vector<float> {
                  ++asked_for;
                  throw ModelFailed("no");
                }));
    for (int i = 0; i < 12; ++i) asked.ask(gang(snapshot, 1, 2));
    CPPUNIT_ASSERT_EQUAL(5, asked_for);
    CPPUNIT_ASSERT_EQUAL(std::uint64_t{5}, asked.faults(ModelFault::failed));
    CPPUNIT_ASSERT_EQUAL(std::uint64_t{7}, asked.faults(ModelFault::breaker_open));
  }

  void a_probe_in_shadow_closes_it_again() {
    const Snapshot snapshot = cluster(2, "pcie8");
    ReadyModel model = spreads();
    Asked asked(snapshot, model);
    BreakerLimits limits;
    limits.faults = 1;
    limits.probes = 2;
    limits.pause_ms = 0;
    asked.use.breaker = Breaker(limits);
    asked.use.breaker.fault(0, ModelFault::failed);
    const Gang asks = gang(snapshot, 1, 2);
    for (int i = 0; i < 5; ++i) asked.ask(gang(snapshot, 2, 20)); // no room: nobody asks the model, so it is no probe
    CPPUNIT_ASSERT_EQUAL(std::uint64_t{0}, asked.use.probes);
    for (int probe = 0; probe < 2; ++probe)
      CPPUNIT_ASSERT_EQUAL(where("pack", snapshot, asks), asked.where(asks)); // judged, not used
    CPPUNIT_ASSERT_EQUAL(std::uint64_t{2}, asked.use.probes);
    CPPUNIT_ASSERT_EQUAL(std::string("n0 1+0, n1 1+0"), asked.where(asks));
  }

  void a_plan_that_does_not_fit_is_replaced_by_the_heuristics() {
    const Snapshot snapshot = cluster(2, "pcie8");
    Asked asked(snapshot, spreads());
    const Gang asks = gang(snapshot, 1, 2);
    const Proposal proposal = asked.policy->instead(asked.cluster, asks, true, "node n7 twice");
    CPPUNIT_ASSERT_EQUAL(where("pack", snapshot, asks), nodes_text(proposal.plan));
    CPPUNIT_ASSERT_EQUAL(std::uint64_t{1}, asked.faults(ModelFault::not_feasible));
  }

  void a_round_without_a_model_is_the_heuristics() {
    auto snapshot = std::make_shared<Snapshot>(cluster(2, "pcie8"));
    snapshot->pending = {gang(*snapshot, 1, 4), gang(*snapshot, 2, 4)};
    Statistics statistics;
    std::vector<std::string> lines;
    ModelRounds rounds(statistics, [&lines](Loudness, const std::string &line) { lines.push_back(line); });
    const RoundResult result = rounds.plan(snapshot, Settings(), 1, nullptr, "/s holds no model");
    rounds.plan(snapshot, Settings(), 2, nullptr, "/s holds no model");
    CPPUNIT_ASSERT_EQUAL(std::size_t{2}, result.decisions.size());
    for (const Decision &decision : result.decisions) {
      CPPUNIT_ASSERT(decision.verdict == Verdict::place);
      CPPUNIT_ASSERT_EQUAL(std::string("pack"), decision.policy);
    }
    CPPUNIT_ASSERT_EQUAL(std::uint64_t{4},
                         statistics.model_faults[static_cast<std::size_t>(ModelFault::no_model)].load());
    CPPUNIT_ASSERT_EQUAL(std::size_t{1}, lines.size()); // once a minute
    CPPUNIT_ASSERT(lines.front().find("/s holds no model (no_model); policy pack places such gangs") !=
                   std::string::npos);
  }

  void a_stuck_model_is_waited_for_once_and_a_new_one_is_asked_at_once() {
    struct Door {
      std::mutex mutex;
      std::condition_variable changed;
      bool open = false;
      int waiting = 0;
    };
    const auto door = std::make_shared<Door>();
    const auto stuck = std::make_shared<ReadyModel>(odd([door](const Rows &rows) {
      std::unique_lock lock(door->mutex);
      ++door->waiting;
      door->changed.wait(lock, [&] { return door->open; });
      return constant(rows, 0);
    }));
    auto snapshot = std::make_shared<Snapshot>(cluster(2, "pcie8"));
    snapshot->pending = {gang(*snapshot, 1, 2)};
    static Statistics statistics; // the late answer still counts its time, after this has returned
    Settings settings;
    settings.inference_budget_ms = 50;
    ModelRounds rounds(statistics, [](Loudness, const std::string &) {});
    for (std::uint64_t round = 1; round <= 3; ++round) {
      const RoundResult result = rounds.plan(snapshot, settings, round, stuck, "");
      CPPUNIT_ASSERT_EQUAL(std::string("pack"), result.decisions.front().policy);
    }
    CPPUNIT_ASSERT_EQUAL(std::uint64_t{3}, statistics.model_faults[static_cast<std::size_t>(ModelFault::late)].load());
    settings.inference_budget_ms = 60000;
    const RoundResult good = rounds.plan(snapshot, settings, 4, std::make_shared<ReadyModel>(spreads()), "");
    CPPUNIT_ASSERT_EQUAL(std::string("learned"), good.decisions.front().policy);
    {
      const std::lock_guard lock(door->mutex);
      CPPUNIT_ASSERT_EQUAL(1, door->waiting);
      door->open = true;
    }
    door->changed.notify_all();
  }
};

CPPUNIT_TEST_SUITE_REGISTRATION(LearnedTest);

} // namespace harmony
