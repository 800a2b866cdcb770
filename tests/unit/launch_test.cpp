// What Slurm itself takes, in a simulation: launching a gang, and cleaning up after it.
#include "tests/unit/sim_fixtures.h"

#include <cppunit/extensions/HelperMacros.h>

namespace harmony {

using namespace fixtures;

class LaunchTest : public CppUnit::TestFixture {
  CPPUNIT_TEST_SUITE(LaunchTest);
  CPPUNIT_TEST(a_gang_works_from_when_it_is_launched);
  CPPUNIT_TEST(the_next_gang_waits_until_the_place_is_cleaned_up);
  CPPUNIT_TEST(a_gang_holds_its_place_while_it_is_launched_but_disturbs_nobody);
  CPPUNIT_TEST(without_such_times_nothing_is_different);
  CPPUNIT_TEST(everything_runs_to_its_end_with_such_times);
  CPPUNIT_TEST_SUITE_END();

  static SimRun on(int nodes, std::vector<SimJob> jobs, double launch_s, double release_s) {
    SimRun run;
    run.cluster = sim_cluster(nodes, "pcie8");
    run.workload.jobs = std::move(jobs);
    run.options.launch_s = launch_s;
    run.options.release_s = release_s;
    return run;
  }

  void a_gang_works_from_when_it_is_launched() {
    const SimResult result = on(1, {sim_job(1, 5, 4, 100)}, 7, 0).run();
    CPPUNIT_ASSERT_EQUAL(12.0, result.jobs[0].start_s);
    CPPUNIT_ASSERT_EQUAL(112.0, result.jobs[0].end_s);
    CPPUNIT_ASSERT_EQUAL(1.0, result.jobs[0].slowdown());
  }

  void the_next_gang_waits_until_the_place_is_cleaned_up() {
    const SimResult result = on(1, {sim_job(1, 0, 8, 100), sim_job(2, 1, 8, 50)}, 7, 3).run();
    CPPUNIT_ASSERT_EQUAL(107.0, of_job(result, 1).end_s);
    CPPUNIT_ASSERT_EQUAL(117.0, of_job(result, 2).start_s);
    CPPUNIT_ASSERT_EQUAL(167.0, of_job(result, 2).end_s);
    CPPUNIT_ASSERT_EQUAL(167.0, result.makespan_s);
  }

  void a_gang_holds_its_place_while_it_is_launched_but_disturbs_nobody() {
    // The second comes when the first has 10 epochs left, and is launched just when these are done.
    const SimResult result =
        on(1, {sim_job(1, 0, 4, 100), sim_job(2, 100, 4, 100), sim_job(3, 101, 4, 10)}, 10, 0).run();
    CPPUNIT_ASSERT_EQUAL(110.0, of_job(result, 1).end_s);
    CPPUNIT_ASSERT_EQUAL(110.0, of_job(result, 2).start_s);
    // The place that is left is the first's.
    CPPUNIT_ASSERT_EQUAL(120.0, of_job(result, 3).start_s);
  }

  void without_such_times_nothing_is_different() {
    SimRun run = on(2, random_jobs(60, 3).jobs, 0, 0);
    const SimResult before = run.run();
    run.options.launch_s = run.options.release_s = 1e-9;
    const SimResult after = run.run();
    CPPUNIT_ASSERT_EQUAL(before.jobs.size(), after.jobs.size());
    for (const JobResult &job : before.jobs)
      CPPUNIT_ASSERT_DOUBLES_EQUAL(job.end_s, of_job(after, job.job).end_s, 1e-3);
  }

  void everything_runs_to_its_end_with_such_times() {
    SimRun run = on(3, random_jobs(200, 5).jobs, 4, 9);
    run.options.map_frames = 20;
    const SimResult result = run.run();
    CPPUNIT_ASSERT_EQUAL(std::size_t{200}, result.jobs.size());
    for (const JobResult &job : result.jobs) CPPUNIT_ASSERT(job.start_s >= job.submit_s + 4);
    CPPUNIT_ASSERT(result.gpus_allocated <= 1 && result.gpus_useful < result.gpus_allocated);
  }
};

CPPUNIT_TEST_SUITE_REGISTRATION(LaunchTest);

} // namespace harmony
