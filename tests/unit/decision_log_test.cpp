#include "src/plan/decision_log.h"

#include <cppunit/extensions/HelperMacros.h>

#include <thread>

namespace harmony {

class DecisionLogTest : public CppUnit::TestFixture {
  CPPUNIT_TEST_SUITE(DecisionLogTest);
  CPPUNIT_TEST(a_job_that_nothing_was_decided_for_is_not_known);
  CPPUNIT_TEST(a_job_that_waits_keeps_its_first_time_and_its_count);
  CPPUNIT_TEST(the_jobs_untouched_for_longest_are_forgotten_first);
  CPPUNIT_TEST(reading_keeps_no_job_alive);
  CPPUNIT_TEST(a_smaller_limit_holds_at_once);
  CPPUNIT_TEST(a_start_on_the_planned_nodes_and_gpus_is_the_plan_used);
  CPPUNIT_TEST(another_node_gpu_or_number_of_tasks_is_not_the_plan);
  CPPUNIT_TEST(tasks_that_are_not_known_are_not_compared);
  CPPUNIT_TEST(shadow_mode_is_never_taken_for_the_plan_used);
  CPPUNIT_TEST(why_stock_chose_survives_the_start);
  CPPUNIT_TEST(components_that_share_a_node_are_compared_together);
  CPPUNIT_TEST(a_dropped_plan_is_pending_again_once_replanned);
  CPPUNIT_TEST(a_started_job_cannot_become_stale);
  CPPUNIT_TEST(a_requeued_job_begins_anew);
  CPPUNIT_TEST(a_round_older_than_the_start_does_not_undo_it);
  CPPUNIT_TEST(copies_of_an_array_count_as_one_and_the_first_placed_is_kept);
  CPPUNIT_TEST(an_array_task_takes_over_what_is_known_of_the_array);
  CPPUNIT_TEST(it_may_be_used_by_many_threads);
  CPPUNIT_TEST_SUITE_END();

  static Bits bits(std::initializer_list<int> numbers) {
    Bits set(16);
    for (int number : numbers) set.set(number);
    return set;
  }

  static Placement placement(const char *node, int workers, int ps, Bits gpus, int component = 0) {
    Placement result;
    result.component = component;
    result.node_name = node;
    result.workers = workers;
    result.ps = ps;
    result.gpus = std::move(gpus);
    return result;
  }

  // Two workers and a PS on n1, a worker on n2.
  static Decision placed(std::uint32_t job, std::uint64_t round = 1, std::time_t decided = 1000) {
    Decision decision;
    decision.job = job;
    decision.round = round;
    decision.decided = decided;
    decision.verdict = Verdict::place;
    decision.plan.placements = {placement("n1", 2, 1, bits({0, 1})), placement("n2", 1, 0, bits({3}))};
    return decision;
  }

  static Decision waits(std::uint32_t job, std::uint64_t round, std::time_t decided) {
    Decision decision = placed(job, round, decided);
    decision.verdict = Verdict::wait;
    decision.plan.placements.clear();
    return decision;
  }

  static std::vector<ActualNode> as_planned() { return {{"n2", {3}, 2, 1}, {"n1", {1, 0}, 6, 3}}; }

  static DecisionRecord after_start(const std::vector<ActualNode> &actual, const std::string &text = "") {
    DecisionLog log;
    log.decided(placed(17));
    CPPUNIT_ASSERT(log.started(17, 2000, actual, text));
    return log.find(17).value();
  }

  void a_job_that_nothing_was_decided_for_is_not_known() {
    DecisionLog log;
    CPPUNIT_ASSERT(!log.find(17));
    CPPUNIT_ASSERT(!log.outcome(17, Outcome::stale, 1, "x"));
    CPPUNIT_ASSERT(!log.started(17, 1, as_planned(), ""));
    CPPUNIT_ASSERT(!log.copy_as(17, 18));
    CPPUNIT_ASSERT_EQUAL(std::size_t(0), log.size());
  }

  void a_job_that_waits_keeps_its_first_time_and_its_count() {
    DecisionLog log;
    for (int round = 1; round <= 5; ++round) log.decided(waits(17, round, 1000 + round));
    log.decided(placed(17, 6, 1006));
    const DecisionRecord record = log.find(17).value();
    CPPUNIT_ASSERT_EQUAL(6, record.decisions);
    CPPUNIT_ASSERT_EQUAL(std::time_t(1001), record.first_decided);
    CPPUNIT_ASSERT_EQUAL(std::time_t(1006), record.decision.decided);
    CPPUNIT_ASSERT(record.decision.verdict == Verdict::place && record.outcome == Outcome::pending);
    CPPUNIT_ASSERT_EQUAL(std::size_t(1), log.size());
  }

  void the_jobs_untouched_for_longest_are_forgotten_first() {
    DecisionLog log;
    log.set_limit(3);
    for (std::uint32_t job : {1, 2, 3}) log.decided(placed(job));
    log.decided(placed(1, 2));
    log.outcome(2, Outcome::stale, 5, "");
    log.decided(placed(4));
    CPPUNIT_ASSERT(!log.find(3) && log.find(1) && log.find(2) && log.find(4));
    log.decided(placed(5));
    CPPUNIT_ASSERT(!log.find(1) && log.find(2));
    CPPUNIT_ASSERT_EQUAL(std::size_t(3), log.size());
  }

  void reading_keeps_no_job_alive() {
    DecisionLog log;
    log.set_limit(2);
    for (std::uint32_t job : {1, 2}) log.decided(placed(job));
    CPPUNIT_ASSERT(log.find(1));
    log.decided(placed(3));
    CPPUNIT_ASSERT(!log.find(1));
  }

  void a_smaller_limit_holds_at_once() {
    DecisionLog log;
    for (std::uint32_t job = 1; job <= 100; ++job) log.decided(placed(job));
    log.set_limit(10);
    CPPUNIT_ASSERT_EQUAL(std::size_t(10), log.size());
    CPPUNIT_ASSERT(!log.find(90) && log.find(91));
    log.set_limit(0);
    log.decided(placed(200));
    CPPUNIT_ASSERT(log.copy_as(200, 201) == false);
    log.set_limit(-1);
    CPPUNIT_ASSERT_EQUAL(std::size_t(0), log.size());
  }

  void a_start_on_the_planned_nodes_and_gpus_is_the_plan_used() {
    const DecisionRecord record = after_start(as_planned());
    CPPUNIT_ASSERT(record.same_as_plan && record.outcome == Outcome::used);
    CPPUNIT_ASSERT_EQUAL(std::time_t(2000), record.outcome_at);
    CPPUNIT_ASSERT_EQUAL(std::size_t(2), record.actual.size());
  }

  void another_node_gpu_or_number_of_tasks_is_not_the_plan() {
    std::vector<ActualNode> other_node = as_planned(), other_gpu = as_planned(), other_tasks = as_planned();
    other_node[0].node = "n3";
    other_gpu[0].gpus = {2};
    other_tasks[0].tasks = 2;
    const std::vector<ActualNode> one_node = {as_planned()[0]};
    for (const auto &actual : {other_node, other_gpu, other_tasks, one_node}) {
      const DecisionRecord record = after_start(actual);
      CPPUNIT_ASSERT(!record.same_as_plan && record.outcome == Outcome::stock);
    }
  }

  void tasks_that_are_not_known_are_not_compared() {
    std::vector<ActualNode> actual = as_planned();
    for (ActualNode &node : actual) node.tasks = 0;
    CPPUNIT_ASSERT(after_start(actual).same_as_plan);
  }

  void shadow_mode_is_never_taken_for_the_plan_used() {
    const DecisionRecord record = after_start(as_planned(), "shadow mode");
    CPPUNIT_ASSERT(record.same_as_plan && record.outcome == Outcome::stock);
    CPPUNIT_ASSERT_EQUAL(std::string("shadow mode"), record.outcome_text);
  }

  void why_stock_chose_survives_the_start() {
    DecisionLog log;
    log.decided(placed(17));
    log.outcome(17, Outcome::stock, 1500, "not_offered");
    log.started(17, 2000, as_planned(), "");
    const DecisionRecord record = log.find(17).value();
    CPPUNIT_ASSERT(record.outcome == Outcome::stock);
    CPPUNIT_ASSERT_EQUAL(std::string("not_offered"), record.outcome_text);
    CPPUNIT_ASSERT_EQUAL(std::time_t(2000), record.outcome_at);
  }

  void components_that_share_a_node_are_compared_together() {
    DecisionLog log;
    Decision decision = placed(17);
    decision.plan.placements.push_back(placement("n1", 0, 2, Bits(16), 1));
    log.decided(decision);
    log.started(17, 2000, {{"n1", {0, 1}, 6, 3}, {"n1", {}, 4, 2}, {"n2", {3}, 2, 1}}, "");
    CPPUNIT_ASSERT(log.find(17)->same_as_plan);
  }

  void a_dropped_plan_is_pending_again_once_replanned() {
    DecisionLog log;
    log.decided(placed(17));
    log.outcome(17, Outcome::stale, 1500, "n2 went down");
    CPPUNIT_ASSERT(log.find(17)->outcome == Outcome::stale);
    CPPUNIT_ASSERT_EQUAL(std::string("n2 went down"), log.find(17)->outcome_text);
    log.decided(placed(17, 2, 1501));
    const DecisionRecord record = log.find(17).value();
    CPPUNIT_ASSERT(record.outcome == Outcome::pending && record.outcome_text.empty() && record.outcome_at == 0);
    CPPUNIT_ASSERT_EQUAL(2, record.decisions);
  }

  void a_started_job_cannot_become_stale() {
    DecisionLog log;
    log.decided(placed(17));
    log.started(17, 2000, as_planned(), "");
    CPPUNIT_ASSERT(log.outcome(17, Outcome::stale, 2001, "swept"));
    CPPUNIT_ASSERT(log.find(17)->outcome == Outcome::used && log.find(17)->outcome_at == 2000);
  }

  void a_requeued_job_begins_anew() {
    DecisionLog log;
    log.decided(placed(17));
    log.started(17, 2000, as_planned(), "");
    log.decided(waits(17, 9, 2100));
    const DecisionRecord record = log.find(17).value();
    CPPUNIT_ASSERT(record.actual.empty() && !record.same_as_plan && record.outcome == Outcome::pending);
    CPPUNIT_ASSERT_EQUAL(1, record.decisions);
    CPPUNIT_ASSERT_EQUAL(std::time_t(2100), record.first_decided);
    log.set_limit(0); // its id is still the key
    CPPUNIT_ASSERT(!log.find(17));
  }

  void a_round_older_than_the_start_does_not_undo_it() {
    DecisionLog log;
    log.decided(placed(17));
    log.started(17, 2000, as_planned(), "");
    log.decided(waits(17, 2, 1999));
    CPPUNIT_ASSERT(log.find(17)->outcome == Outcome::used && log.find(17)->decisions == 1);
  }

  void copies_of_an_array_count_as_one_and_the_first_placed_is_kept() {
    DecisionLog log;
    Decision second = placed(17, 4);
    second.plan.placements.pop_back();
    log.decided(placed(17, 4));
    log.decided(second);
    log.decided(waits(17, 4, 1000));
    const DecisionRecord record = log.find(17).value();
    CPPUNIT_ASSERT_EQUAL(1, record.decisions);
    CPPUNIT_ASSERT(record.decision.verdict == Verdict::place);
    CPPUNIT_ASSERT_EQUAL(std::size_t(2), record.decision.plan.placements.size());
  }

  void an_array_task_takes_over_what_is_known_of_the_array() {
    DecisionLog log;
    log.decided(placed(17));
    CPPUNIT_ASSERT(log.copy_as(17, 18));
    Plan other;
    other.placements = {placement("n9", 3, 1, bits({4, 5, 6}))};
    CPPUNIT_ASSERT(log.copy_as(17, 19, &other));
    log.started(18, 2000, as_planned(), "");
    log.started(19, 2001, {{"n9", {4, 5, 6}, 8, 4}}, "");
    CPPUNIT_ASSERT(log.find(17)->outcome == Outcome::pending);
    CPPUNIT_ASSERT(log.find(18)->outcome == Outcome::used && log.find(18)->decision.job == 18);
    CPPUNIT_ASSERT(log.find(19)->outcome == Outcome::used && log.find(19)->decision.job == 19);
    CPPUNIT_ASSERT(log.copy_as(17, 17));
    CPPUNIT_ASSERT_EQUAL(std::size_t(3), log.size());
  }

  void it_may_be_used_by_many_threads() {
    DecisionLog log;
    log.set_limit(50);
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
      threads.emplace_back([&log, t] {
        for (std::uint32_t i = 0; i < 500; ++i) {
          const std::uint32_t job = i % 80 + static_cast<std::uint32_t>(t);
          log.decided(placed(job, i, i + 1));
          log.outcome(job, Outcome::stale, i, "x");
          log.started(job, i, as_planned(), "");
          log.copy_as(job, job + 1000);
          log.find(job);
        }
      });
    for (std::thread &thread : threads) thread.join();
    CPPUNIT_ASSERT_EQUAL(std::size_t(50), log.size());
  }
};

CPPUNIT_TEST_SUITE_REGISTRATION(DecisionLogTest);

} // namespace harmony
