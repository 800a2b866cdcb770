// What job_test finds of a round's decisions.
#include "src/plan/plan_table.h"

#include <cppunit/extensions/HelperMacros.h>

using namespace harmony;

namespace {

Placement placement(int component, int node, int workers, int ps) {
  Placement result;
  result.component = component;
  result.node = node;
  result.node_name = "n" + std::to_string(node);
  result.workers = workers;
  result.ps = ps;
  return result;
}

Decision placed(std::uint32_t job, std::vector<Placement> placements) {
  Decision decision;
  decision.job = job;
  decision.verdict = Verdict::place;
  decision.plan.placements = std::move(placements);
  return decision;
}

} // namespace

class PlanTableTest : public CppUnit::TestFixture {
  CPPUNIT_TEST_SUITE(PlanTableTest);
  CPPUNIT_TEST(a_planned_job_has_its_placements);
  CPPUNIT_TEST(tasks_of_a_job_array_take_their_plans_one_after_another);
  CPPUNIT_TEST(each_component_of_a_hetjob_has_its_own_placements);
  CPPUNIT_TEST(a_job_that_waits_has_no_placements);
  CPPUNIT_TEST(a_dropped_plan_is_not_used_again);
  CPPUNIT_TEST(the_text_is_what_harmony_run_reads);
  CPPUNIT_TEST_SUITE_END();

public:
  void a_planned_job_has_its_placements() {
    PlanTable table = make_plan_table({placed(7, {placement(0, 2, 2, 1)})}, {});
    CPPUNIT_ASSERT(table.find(7));
    CPPUNIT_ASSERT(!table.find(8));
    CPPUNIT_ASSERT(!table.find(7)->hetjob());
    CPPUNIT_ASSERT_EQUAL(2, table.find(7)->next()->front().node);
  }

  void tasks_of_a_job_array_take_their_plans_one_after_another() {
    Decision full;
    full.job = 7;
    full.verdict = Verdict::no_room;
    PlanTable table =
        make_plan_table({placed(7, {placement(0, 1, 1, 0)}), placed(7, {placement(0, 2, 1, 0)}), full}, {});
    PlannedJob &job = *table.find(7);
    CPPUNIT_ASSERT_EQUAL(1, job.next()->front().node);
    ++job.used;
    CPPUNIT_ASSERT_EQUAL(2, job.next()->front().node);
    ++job.used;
    CPPUNIT_ASSERT(!job.next());
  }

  void each_component_of_a_hetjob_has_its_own_placements() {
    PlanTable table = make_plan_table(
        {placed(7, {placement(0, 1, 2, 0), placement(0, 2, 2, 0), placement(1, 2, 0, 1)})}, {{7, {7, 8}}});
    CPPUNIT_ASSERT_EQUAL(std::size_t{2}, table.find(7)->next()->size());
    CPPUNIT_ASSERT_EQUAL(std::size_t{1}, table.find(8)->next()->size());
    CPPUNIT_ASSERT_EQUAL(1, table.find(8)->next()->front().ps);
    CPPUNIT_ASSERT(table.find(8)->hetjob());
  }

  void a_job_that_waits_has_no_placements() {
    Decision waits;
    waits.job = 7;
    waits.verdict = Verdict::wait;
    waits.wait_until = 1234;
    PlanTable table = make_plan_table({waits}, {});
    CPPUNIT_ASSERT(!table.find(7)->next());
    CPPUNIT_ASSERT_EQUAL(std::time_t{1234}, table.find(7)->wait_until);
  }

  void a_dropped_plan_is_not_used_again() {
    PlanTable table = make_plan_table({placed(7, {placement(0, 2, 2, 1)})}, {});
    table.find(7)->dropped = true;
    CPPUNIT_ASSERT(!table.find(7)->next());
  }

  void the_text_is_what_harmony_run_reads() {
    CPPUNIT_ASSERT_EQUAL(std::string("n1=2+0,n2=0+1"), plan_text({placement(0, 1, 2, 0), placement(0, 2, 0, 1)}));
  }
};

CPPUNIT_TEST_SUITE_REGISTRATION(PlanTableTest);
