#include "src/show/decision_text.h"

#include <cppunit/extensions/HelperMacros.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace harmony {
namespace {

bool contains(const std::string &text, const std::string &part) { return text.find(part) != std::string::npos; }

Placement placement(const std::string &node, int workers, int ps, std::initializer_list<int> gpus, int cores) {
  Placement result;
  result.node_name = node;
  result.workers = workers;
  result.ps = ps;
  result.gpus = Bits(8);
  for (int gpu : gpus) result.gpus.set(gpu);
  result.cores = Bits(64);
  for (int core = 0; core < cores; ++core) result.cores.set(core);
  return result;
}

DecisionRecord placed() {
  DecisionRecord record;
  Decision &decision = record.decision;
  decision.job = 17;
  decision.type = "vgg16";
  decision.policy = "pack";
  decision.round = 7;
  decision.decided = 1700000100;
  decision.verdict = Verdict::place;
  decision.reason = "the fewest nodes that hold all tasks";
  decision.plan.placements = {placement("n1", 2, 1, {0, 2, 3}, 12), placement("node-22", 1, 0, {}, 1)};
  decision.candidates = {{"n1 2+1, node-22 1+0", 0.93, "fewest nodes"}, {"n3 3+1", -12.25, "2 GPUs stranded"}};
  decision.masked = {{"busy GPUs", 12}, {"memory", 1}};
  decision.neighbours = {"n1: job 3 (resnet50) 2+1, same PCIe switch"};
  decision.predicted_speed = 0.88;
  record.decisions = 3;
  record.first_decided = 1700000000;
  return record;
}

DecisionRecord started(bool same) {
  DecisionRecord record = placed();
  record.outcome = same ? Outcome::used : Outcome::stock;
  record.outcome_at = 1700000200;
  record.actual = {{"n9", {4, 5, 6}, 8, 4}};
  record.same_as_plan = same;
  return record;
}

} // namespace

class DecisionTextTest : public CppUnit::TestFixture {
  CPPUNIT_TEST_SUITE(DecisionTextTest);
  CPPUNIT_TEST(a_placed_job_reads_as_documented);
  CPPUNIT_TEST(a_job_that_waits_says_for_what_and_until_when);
  CPPUNIT_TEST(a_job_left_to_stock_says_why);
  CPPUNIT_TEST(another_allocation_is_shown_beside_the_plan);
  CPPUNIT_TEST(the_same_allocation_is_not_shown_twice);
  CPPUNIT_TEST(shadow_mode_is_said_even_if_stock_chose_the_same);
  CPPUNIT_TEST(a_dropped_plan_says_why);
  CPPUNIT_TEST(predicted_speed_is_told_in_percent);
  CPPUNIT_TEST(components_are_told_apart_in_hetjobs_only);
  CPPUNIT_TEST(a_plan_of_many_nodes_is_cut);
  CPPUNIT_TEST(hostile_texts_do_no_harm);
  CPPUNIT_TEST(what_is_not_there_takes_no_line);
  CPPUNIT_TEST_SUITE_END();

public:
  // Times are local: the tests choose where that is.
  void setUp() override {
    const char *zone = std::getenv("TZ");
    zone_ = zone ? zone : "";
    had_zone_ = zone != nullptr;
    setenv("TZ", "UTC", 1);
    tzset();
  }
  void tearDown() override {
    if (had_zone_)
      setenv("TZ", zone_.c_str(), 1);
    else
      unsetenv("TZ");
    tzset();
  }

private:
  std::string zone_;
  bool had_zone_ = false;

  void a_placed_job_reads_as_documented() {
    CPPUNIT_ASSERT_EQUAL(
        std::string(
            "job 17      place: the fewest nodes that hold all tasks\n"
            "outcome     not started yet\n"
            "decided     2023-11-14T22:15:00 by policy pack, round 7; 3 times in all since 2023-11-14T22:13:20\n"
            "type        vgg16\n"
            "plan        NODE     WORKERS  PS  GPUS   CORES\n"
            "            n1             2   1  0,2-3  0-11\n"
            "            node-22        1   0  -      0\n"
            "speed       about 12 % slower than alone (linear interference rule)\n"
            "neighbours  n1: job 3 (resnet50) 2+1, same PCIe switch\n"
            "candidates   SCORE  NODES (workers+PS)   WHY\n"
            "              0.93  n1 2+1, node-22 1+0  fewest nodes\n"
            "            -12.25  n3 3+1               2 GPUs stranded\n"
            "masked      12 nodes: busy GPUs\n"
            "            1 node: memory\n"),
        decision_text(placed()));
  }

  void a_job_that_waits_says_for_what_and_until_when() {
    DecisionRecord record = placed();
    record.decision.verdict = Verdict::wait;
    record.decision.plan = {};
    record.decision.reason = "for job 3 on n1, which ends sooner than sharing would pay";
    record.decision.wait_until = 1700000700;
    const std::string text = decision_text(record);
    CPPUNIT_ASSERT(contains(text,
                            "job 17      wait: for job 3 on n1, which ends sooner than sharing would pay\n"
                            "waits       until 2023-11-14T22:25:00 at the latest; then it starts wherever it fits\n"));
    CPPUNIT_ASSERT(!contains(text, "speed") && !contains(text, "plan  "));
  }

  void a_job_left_to_stock_says_why() {
    DecisionRecord record;
    record.decision.job = 4294967295;
    record.decision.reason = "--contiguous is not planned";
    CPPUNIT_ASSERT(contains(decision_text(record), "job 4294967295 left to stock: --contiguous is not planned\n"));
    record.decision.verdict = Verdict::no_room;
    CPPUNIT_ASSERT(contains(decision_text(record), "no room: "));
  }

  void another_allocation_is_shown_beside_the_plan() {
    const std::string text = decision_text(started(false));
    CPPUNIT_ASSERT(contains(text, "outcome     2023-11-14T22:16:40: stock chose the place\n"));
    CPPUNIT_ASSERT(contains(text, "            n1             2   1  0,2-3  0-11\n"));
    CPPUNIT_ASSERT(contains(text, "allocated   NODE  TASKS  GPUS  CPUS\n"
                                  "            n9        4  4-6      8\n"));
  }

  void the_same_allocation_is_not_shown_twice() {
    const std::string text = decision_text(started(true));
    CPPUNIT_ASSERT(contains(text, "outcome     2023-11-14T22:16:40: started as planned\n"));
    CPPUNIT_ASSERT(!contains(text, "allocated"));
  }

  void shadow_mode_is_said_even_if_stock_chose_the_same() {
    DecisionRecord record = started(true);
    record.outcome = Outcome::stock;
    record.outcome_text = "shadow mode";
    CPPUNIT_ASSERT(contains(decision_text(record), "stock chose the place, the same as planned; shadow mode\n"));
  }

  void a_dropped_plan_says_why() {
    DecisionRecord record = placed();
    record.outcome = Outcome::stale;
    record.outcome_at = 1700000200;
    record.outcome_text = "n1 went down";
    CPPUNIT_ASSERT(
        contains(decision_text(record), "2023-11-14T22:16:40: the plan was dropped, planning anew; n1 went down\n"));
  }

  void predicted_speed_is_told_in_percent() {
    const auto speed = [](double predicted) {
      DecisionRecord record = placed();
      record.decision.predicted_speed = predicted;
      return decision_text(record);
    };
    CPPUNIT_ASSERT(contains(speed(1), "speed       as fast as alone (linear interference rule)\n"));
    CPPUNIT_ASSERT(contains(speed(0.999), "as fast as alone"));
    CPPUNIT_ASSERT(contains(speed(1e300), "as fast as alone"));
    CPPUNIT_ASSERT(contains(speed(0.5), "about 50 % slower"));
    CPPUNIT_ASSERT(contains(speed(-1e300), "about 100 % slower"));
    CPPUNIT_ASSERT(contains(speed(std::nan("")), "speed       not known\n"));
  }

  void components_are_told_apart_in_hetjobs_only() {
    DecisionRecord record = placed();
    CPPUNIT_ASSERT(!contains(decision_text(record), "COMPONENT"));
    record.decision.plan.placements[1].component = 1;
    CPPUNIT_ASSERT(contains(decision_text(record), "plan        COMPONENT  NODE     WORKERS  PS  GPUS   CORES\n"
                                                   "                    0  n1             2   1  0,2-3  0-11\n"
                                                   "                    1  node-22        1   0  -      0\n"));
  }

  void a_plan_of_many_nodes_is_cut() {
    DecisionRecord record = placed();
    record.decision.plan.placements.assign(1000, placement("n1", 1, 0, {0}, 1));
    record.decision.candidates[0].nodes = std::string(100000, 'n');
    const std::string text = decision_text(record);
    CPPUNIT_ASSERT(contains(text, "... and 961 more; --json has them all\n"));
    CPPUNIT_ASSERT(text.size() < 10000);
  }

  void hostile_texts_do_no_harm() {
    const std::string hostile("\x1b[2J\x07\r\n\0\x7f\xc2\x9b{}%s", 16);
    DecisionRecord record = started(false);
    Decision &decision = record.decision;
    decision.type = decision.policy = decision.reason = record.outcome_text = hostile;
    decision.plan.placements[0].node_name = record.actual[0].node = hostile;
    decision.candidates[0].nodes = decision.candidates[0].why = decision.masked[0].by = hostile;
    decision.neighbours[0] = hostile;
    const std::string before = decision_text(started(false)), text = decision_text(record);
    for (char c : text) CPPUNIT_ASSERT(c == '\n' || (c >= ' ' && c <= '~'));
    CPPUNIT_ASSERT_EQUAL(std::count(before.begin(), before.end(), '\n'), std::count(text.begin(), text.end(), '\n'));
  }

  void what_is_not_there_takes_no_line() {
    DecisionRecord record;
    record.decision.job = 17;
    record.decision.policy = "pack";
    record.decision.type = "unknown";
    CPPUNIT_ASSERT_EQUAL(std::string("job 17      left to stock\n"
                                     "outcome     not started yet\n"
                                     "decided     an unknown time by policy pack, round 0\n"
                                     "type        unknown\n"),
                         decision_text(record));
  }
};

CPPUNIT_TEST_SUITE_REGISTRATION(DecisionTextTest);

} // namespace harmony
