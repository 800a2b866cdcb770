// What the live comparison's emulator understands, and how it reads a run. The processes themselves are in
// tests/live/compare_test.sh.
#include "tests/emulator/gang_roles.h"
#include "tests/emulator/live_comparison.h"
#include "tests/emulator/live_result.h"
#include "tests/emulator/task_hello.h"
#include "src/sim/metrics.h"

#include <cppunit/extensions/HelperMacros.h>
#include <fmt/format.h>

namespace harmony {
namespace {

TasksOn tasks_on(int node, int tasks, std::vector<int> gpus) {
  TasksOn made;
  made.node = node;
  made.workers = tasks;
  made.cores = 2 * tasks;
  made.gpus = Bits(2);
  for (const int gpu : gpus) made.gpus.set(gpu);
  return made;
}

SimJob job_of(std::uint32_t id, double epochs) {
  SimJob job;
  job.id = id;
  job.type = "vgg16";
  job.cpus_per_worker = job.cpus_per_ps = 2;
  job.epochs = epochs;
  return job;
}

GangEvent event(GangMoment moment, std::uint32_t job, double at_s, int node) {
  GangEvent made{moment, at_s, job, 100 + job, 0, {}};
  if (moment != GangMoment::start) return made;
  made.where.type = "vgg16";
  made.where.workers = 1;
  made.where.where = {tasks_on(node, 1, {0})};
  return made;
}

constexpr double day_s = 1.7e9; // some day

} // namespace

class EmulatorTest : public CppUnit::TestFixture {
  CPPUNIT_TEST_SUITE(EmulatorTest);
  CPPUNIT_TEST(a_hello_comes_back_as_it_was_sent);
  CPPUNIT_TEST(what_is_no_hello_is_refused);
  CPPUNIT_TEST(roles_follow_the_gpus);
  CPPUNIT_TEST(workers_go_without_gpus_where_stock_left_too_few_beside_them);
  CPPUNIT_TEST(a_run_is_read_on_the_jobs_clock);
  CPPUNIT_TEST(a_run_that_is_not_whole_is_refused);
  CPPUNIT_TEST(an_end_that_the_truth_does_not_know_is_refused);
  CPPUNIT_TEST(slurms_own_times_are_those_of_the_probe);
  CPPUNIT_TEST(the_larger_error_decides);
  CPPUNIT_TEST_SUITE_END();

  void a_hello_comes_back_as_it_was_sent() {
    const TaskHello sent{17, 1017, 1, 2, 3, "n4", {0, 1, 5}, 2};
    CPPUNIT_ASSERT_EQUAL(std::string("task 17 1017 1 2 3 n4 0,1,5 2"), hello_text(sent));
    const auto read = hello_of_text(hello_text(sent));
    CPPUNIT_ASSERT(read);
    CPPUNIT_ASSERT_EQUAL(hello_text(sent), hello_text(*read));
    CPPUNIT_ASSERT(hello_of_text("task 1 1 0 0 1 n0 - 1")->gpus.empty());
    CPPUNIT_ASSERT((std::vector<int>{0, 1, 2, 5} == *gpu_list("0-2,5")));
  }

  void what_is_no_hello_is_refused() {
    for (const char *line :
         {"", "task", "task 1 1 0 0 1 n0 - 1 more", "tusk 1 1 0 0 1 n0 - 1", "task -1 1 0 0 1 n0 - 1",
          "task 1 0 0 0 1 n0 - 1", "task 1 1 0 1 1 n0 - 1", "task 1 1 0 0 0 n0 - 1", "task 1 1 0 0 1 n0 0,x 1",
          "task 1 1 0 0 1 n0 2-1 1", "task 1 1 0 0 1 n0 64 1", "task 1 1 0 0 1 n0 - 0", "task 1 1 0 0 9999999 n0 - 1",
          "task 1 1 0 nan 1 n0 - 1"})
      CPPUNIT_ASSERT_MESSAGE(line, !hello_of_text(line));
    CPPUNIT_ASSERT(!hello_of_text("task 1 1 0 0 1 " + std::string(100, 'n') + " - 1"));
  }

  void roles_follow_the_gpus() {
    std::vector<TasksOn> nodes{tasks_on(0, 4, {0, 1}), tasks_on(1, 2, {0, 1})};
    give_out_roles(nodes, 4, 1);
    CPPUNIT_ASSERT_EQUAL(std::string("2+2 2+0"),
                         fmt::format("{}+{} {}+{}", nodes[0].workers, nodes[0].ps, nodes[1].workers, nodes[1].ps));
    nodes = {tasks_on(0, 2, {}), tasks_on(1, 1, {0})}; // two PS and a worker
    give_out_roles(nodes, 1, 1);
    CPPUNIT_ASSERT_EQUAL(std::string("0+2 1+0"),
                         fmt::format("{}+{} {}+{}", nodes[0].workers, nodes[0].ps, nodes[1].workers, nodes[1].ps));
  }

  void workers_go_without_gpus_where_stock_left_too_few_beside_them() {
    std::vector<TasksOn> nodes{tasks_on(0, 3, {0, 1}), tasks_on(1, 1, {0, 1})};
    give_out_roles(nodes, 4, 1);
    CPPUNIT_ASSERT_EQUAL(3, nodes[0].workers);
    CPPUNIT_ASSERT_EQUAL(1, nodes[1].workers);
    CPPUNIT_ASSERT_EQUAL(0, nodes[0].ps + nodes[1].ps);
  }

  // Two jobs on nodes of their own, on a clock of 10: the second comes 2 s later and waits for 3.
  struct TwoJobs {
    EmulatedCluster cluster{"servers6"};
    Workload workload;
    double ran_s = 0; // each, on their clock
    std::map<std::uint32_t, double> submitted{{1, day_s}, {2, day_s + 2}};
    std::vector<GangEvent> events;
    TwoJobs() {
      const double epochs = 400 * cluster.best.speed(job_of(1, 1));
      workload.jobs = {job_of(1, epochs), job_of(2, epochs)};
      ran_s = epochs / cluster.rules->alone(event(GangMoment::start, 1, 0, 0).where);
      events = {event(GangMoment::start, 1, day_s + 1, 0), event(GangMoment::start, 2, day_s + 5, 1),
                event(GangMoment::end, 1, day_s + 1 + ran_s / 10, 0),
                event(GangMoment::end, 2, day_s + 5 + ran_s / 10, 0)};
    }
    SimResult read() { return live_result(cluster, workload, submitted, events, 10); }
  };

  void a_run_is_read_on_the_jobs_clock() {
    TwoJobs two;
    const SimResult result = two.read();
    CPPUNIT_ASSERT_EQUAL(std::size_t{2}, result.jobs.size());
    CPPUNIT_ASSERT_DOUBLES_EQUAL(30, result.jobs[1].waited(), 0.01);
    CPPUNIT_ASSERT_DOUBLES_EQUAL(two.ran_s, result.jobs[1].ran(), 0.01);
    CPPUNIT_ASSERT_DOUBLES_EQUAL(50 + two.ran_s, result.makespan_s, 0.01);
    CPPUNIT_ASSERT_EQUAL(1, result.map.front().cells.front().gpus);
    CPPUNIT_ASSERT_DOUBLES_EQUAL(0.5 / 12, result.gpus_allocated, 1e-6); // of the first 20 s one GPU for 10
  }

  void a_run_that_is_not_whole_is_refused() {
    TwoJobs no_end, twice, lost, never_submitted, stranger;
    no_end.events.pop_back();
    twice.events.push_back(twice.events.front());
    lost.events[2].moment = GangMoment::lost;
    never_submitted.submitted.erase(2);
    stranger.events[0].job = 9;
    for (TwoJobs *each : {&no_end, &twice, &lost, &never_submitted, &stranger})
      CPPUNIT_ASSERT_THROW(each->read(), std::runtime_error);
  }

  void an_end_that_the_truth_does_not_know_is_refused() {
    TwoJobs two;
    two.events.back().at_s += 1;
    CPPUNIT_ASSERT_THROW(two.read(), std::runtime_error);
  }

  void slurms_own_times_are_those_of_the_probe() {
    const std::map<std::uint32_t, double> submitted{{1, day_s}, {2, day_s}, {3, day_s + 10}};
    const std::vector<GangEvent> events{
        event(GangMoment::start, 1, day_s + 0.9, 0),   event(GangMoment::end, 1, day_s + 2, 0),
        event(GangMoment::start, 2, day_s + 2.5, 0),   event(GangMoment::end, 2, day_s + 4, 0),
        event(GangMoment::start, 3, day_s + 10.25, 0), event(GangMoment::end, 3, day_s + 11, 0)};
    const SlurmTimes times = slurm_times(submitted, events);
    CPPUNIT_ASSERT_DOUBLES_EQUAL(0.25, times.launch_s, 1e-4);
    CPPUNIT_ASSERT_DOUBLES_EQUAL(0.5, times.turn_around_s, 1e-4);
    CPPUNIT_ASSERT_THROW(slurm_times(submitted, {}), std::runtime_error);
  }

  void the_larger_error_decides() {
    TwoJobs two;
    LiveComparison both;
    both.live.gpus = both.simulated.gpus = 12;
    both.live.results = {{two.read()}, {two.read()}};
    both.simulated.results = both.live.results;
    for (JobResult &job : both.simulated.results[1][0].jobs) job.end_s += 0.2 * job.jct();
    summarise(both.live);
    summarise(both.simulated);
    CPPUNIT_ASSERT_DOUBLES_EQUAL(0.2, worst_error(both), 1e-6);
    CPPUNIT_ASSERT(live_comparison_text(both).find("within 10 %: NO (the worse mean JCT is 20.0 % off)") !=
                   std::string::npos);
    both.simulated = both.live;
    CPPUNIT_ASSERT_EQUAL(0.0, worst_error(both));
    CPPUNIT_ASSERT(live_comparison_text(both).find("within 10 %: yes") != std::string::npos);
  }
};

CPPUNIT_TEST_SUITE_REGISTRATION(EmulatorTest);

} // namespace harmony
