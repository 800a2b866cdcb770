#include "src/sim/compare.h"
#include "src/sim/input/read_jobs.h"
#include "src/sim/result_text.h"
#include "src/sim/sim_policies.h"
#include "src/sim/truth/contention.h"
#include "tests/unit/sim_files.h"
#include "tests/unit/sim_fixtures.h"

#include <cppunit/extensions/HelperMacros.h>
#include <fmt/format.h>

#include <cmath>

namespace harmony {

using namespace fixtures;

namespace {

// Sees with its own arithmetic that nothing is given twice and that all work is done.
class Auditor : public SimWatcher {
public:
  explicit Auditor(bool stock) : stock_(stock) {} // which may give a node other GPUs than its workers need
  void started(const SimJob &job, const Gang &gang, const Plan &plan, const Snapshot &, double, double,
               double) override {
    int workers = 0, ps = 0, gpus = 0;
    for (const Placement &placement : plan.placements) {
      workers += placement.workers;
      ps += placement.ps;
      gpus += placement.gpus.count();
      for (const int gpu : each(placement.gpus)) take("gpu", placement.node, gpu, job.id);
      for (const int core : each(placement.cores)) take("core", placement.node, core, job.id);
    }
    CPPUNIT_ASSERT_EQUAL(job.workers, workers);
    CPPUNIT_ASSERT_EQUAL(job.ps, ps);
    CPPUNIT_ASSERT(gpus == job.gpus() || (stock_ && gpus > job.gpus()));
    CPPUNIT_ASSERT_EQUAL(job.id, gang.job);
  }
  void went(const SimJob &job, const Progress::Change &change, const Snapshot &, double, bool ended) override {
    done[job.id] += change.epochs;
    if (!ended) return;
    for (auto at = held_.begin(); at != held_.end();) at = at->second == job.id ? held_.erase(at) : std::next(at);
  }
  bool all_given_back() const { return held_.empty(); }
  std::map<std::uint32_t, double> done;

private:
  const bool stock_;
  void take(const std::string &what, int node, int index, std::uint32_t job) {
    CPPUNIT_ASSERT_MESSAGE(what + " given twice", held_.emplace(std::make_tuple(what, node, index), job).second);
  }
  std::map<std::tuple<std::string, int, int>, std::uint32_t> held_;
};

// Never starts a job before its time to wait is over.
class AlwaysWaits : public Policy {
public:
  const char *name() const override { return "always-waits"; }
  Proposal propose(const Cluster &cluster, const Gang &gang, bool may_wait) const override {
    if (may_wait) return {Verdict::wait, {}, "", {}};
    return make_policy("pack")->propose(cluster, gang, may_wait);
  }
};

} // namespace

class SimulateTest : public CppUnit::TestFixture {
  CPPUNIT_TEST_SUITE(SimulateTest);
  CPPUNIT_TEST(a_job_alone_takes_its_own_time);
  CPPUNIT_TEST(neighbours_slow_each_other_down_while_both_run);
  CPPUNIT_TEST(nothing_is_given_twice_and_all_work_is_done);
  CPPUNIT_TEST(the_same_input_gives_the_same_bytes_on_any_number_of_threads);
  CPPUNIT_TEST(jobs_that_come_together_may_stand_in_any_order);
  CPPUNIT_TEST(a_gang_starts_whole_or_not_at_all);
  CPPUNIT_TEST(who_comes_behind_goes_first_only_if_it_is_gone_in_time);
  CPPUNIT_TEST(a_plan_that_may_not_start_blocks_nobody_behind_it);
  CPPUNIT_TEST(a_round_that_ends_at_its_depth_is_followed_by_another);
  CPPUNIT_TEST(shortest_first_and_priority_order_the_queue);
  CPPUNIT_TEST(waiting_ends_at_max_wait);
  CPPUNIT_TEST(rounds_are_at_multiples_of_the_interval);
  CPPUNIT_TEST(a_job_given_by_its_duration_takes_that_at_best);
  CPPUNIT_TEST(without_interference_every_job_goes_at_its_best);
  CPPUNIT_TEST(noise_slows_down_and_is_the_same_again);
  CPPUNIT_TEST(a_job_that_never_fits_is_refused);
  CPPUNIT_TEST(gpus_allocated_and_useful_add_up);
  CPPUNIT_TEST_SUITE_END();

  static SimRun on(int nodes, std::vector<SimJob> jobs) {
    SimRun run;
    run.cluster = sim_cluster(nodes, "pcie8");
    run.workload.jobs = std::move(jobs);
    return run;
  }

  void a_job_alone_takes_its_own_time() {
    const SimResult result = on(1, {sim_job(1, 5, 4, 100)}).run();
    CPPUNIT_ASSERT_EQUAL(std::size_t{1}, result.jobs.size());
    CPPUNIT_ASSERT_EQUAL(5.0, result.jobs[0].start_s);
    CPPUNIT_ASSERT_EQUAL(105.0, result.jobs[0].end_s);
    CPPUNIT_ASSERT_EQUAL(1.0, result.jobs[0].slowdown());
    CPPUNIT_ASSERT_EQUAL(100.0, result.makespan_s);
  }

  void neighbours_slow_each_other_down_while_both_run() {
    // Alone for 50 s, then both at half speed: the first has 50 epochs left and needs 100 s for them.
    const SimResult result = on(1, {sim_job(1, 0, 4, 100), sim_job(2, 50, 4, 100)}).run();
    CPPUNIT_ASSERT_DOUBLES_EQUAL(150, of_job(result, 1).end_s, 1e-9);
    CPPUNIT_ASSERT_DOUBLES_EQUAL(200, of_job(result, 2).end_s, 1e-9);
  }

  void nothing_is_given_twice_and_all_work_is_done() {
    SimRun run = on(4, random_jobs(120, 7).jobs);
    for (SimJob &job : run.workload.jobs) job.type = job.id % 2 ? "vgg16" : "resnet50";
    const auto truth = make_contention(run.cluster, run.types);
    BestPlace best(run.cluster, run.types, *truth);
    for (const PolicyName &name : sim_policy_names()) {
      if (name.name == "lif-linear" || name.name == "lif-quadratic" || name.name == "greedy")
        continue; // need a dataset
      PolicyNeeds needs;
      needs.rules = truth.get();
      const auto policy = make_sim_policy(name.name, needs);
      Auditor auditor(name.name == "stock");
      const SimResult result = simulate({run.cluster, run.types, run.workload, *truth, best},
                                        rounds_of(*policy, run.options.settings), run.options, &auditor);
      CPPUNIT_ASSERT_EQUAL_MESSAGE(name.name, run.workload.jobs.size(), result.jobs.size());
      CPPUNIT_ASSERT_MESSAGE(name.name, auditor.all_given_back());
      CPPUNIT_ASSERT_MESSAGE(name.name, result.gpus_useful <= result.gpus_allocated * 1.001);
      for (const SimJob &job : run.workload.jobs)
        CPPUNIT_ASSERT_DOUBLES_EQUAL_MESSAGE(name.name, job.epochs, auditor.done[job.id], 1e-6 * job.epochs);
      for (const JobResult &job : result.jobs) CPPUNIT_ASSERT_MESSAGE(name.name, job.place_s >= job.best_s * 0.999);
    }
  }

  void the_same_input_gives_the_same_bytes_on_any_number_of_threads() {
    const SimCluster cluster = sim_cluster(4, "pcie8");
    const JobTypes types;
    const ShareOfNode truth;
    const auto compared = [&](int threads) {
      CompareInput input{cluster, types, truth,   {random_jobs(60, 1), random_jobs(60, 2), random_jobs(60, 3)},
                         {},      {},    threads, {}};
      for (const char *name : {"pack", "spread", "cons1"})
        input.contenders.push_back(
            {name, false, [name, settings = input.options.settings](const Truth &, std::uint64_t) {
               const std::shared_ptr<Policy> policy = make_policy(name);
               return PlanRound(
                   [policy, settings](const Snapshot &s, std::uint64_t r, const std::function<bool()> &stop) {
                     return rounds_of(*policy, settings)(s, r, stop);
                   });
             }});
      const Comparison comparison = compare_policies(input);
      return comparisons_json({comparison}) + jobs_csv({comparison}) + comparison_text(comparison);
    };
    const std::string once = compared(1);
    CPPUNIT_ASSERT_EQUAL(once, compared(1));
    CPPUNIT_ASSERT_EQUAL(once, compared(4));
  }

  void jobs_that_come_together_may_stand_in_any_order() {
    const Files files;
    std::vector<std::string> rows;
    for (const SimJob &job : random_jobs(40, 5, 60).jobs)
      rows.push_back(fmt::format("{},{:.0f},vgg16,{},{},{:.0f}\n", job.id, 100 * std::floor(job.submit_s / 100),
                                 job.workers, job.ps, job.epochs));
    const auto result = [&] {
      std::string text = "job_id,submit_s,type,workers,ps,epochs\n";
      for (const std::string &row : rows) text += row;
      SimRun run = on(2, {});
      run.workload = read_jobs(files.write("jobs.csv", text), {});
      std::string ends;
      for (const JobResult &job : run.run().jobs) ends += fmt::format("{} {} {}\n", job.job, job.start_s, job.end_s);
      return ends;
    };
    const std::string forwards = result();
    std::reverse(rows.begin(), rows.end());
    CPPUNIT_ASSERT_EQUAL(forwards, result());
  }

  void a_gang_starts_whole_or_not_at_all() {
    const SimResult result = on(2, {sim_job(1, 0, 4, 100), sim_job(2, 1, 16, 10)}).run();
    CPPUNIT_ASSERT_EQUAL(100.0, of_job(result, 2).start_s);
    CPPUNIT_ASSERT_EQUAL(2, of_job(result, 2).nodes);
  }

  void who_comes_behind_goes_first_only_if_it_is_gone_in_time() {
    // 1 holds half of the node for 100 s (limit 200 s), 2 wants all of it, 3 and 4 want a quarter: 3 says it will be
    // gone by then, 4 does not.
    SimJob first = sim_job(1, 0, 4, 100), whole = sim_job(2, 1, 8, 10), fast = sim_job(3, 2, 2, 20),
           slow = sim_job(4, 3, 2, 20);
    first.time_limit_s = 240;
    fast.time_limit_s = 120;
    slow.time_limit_s = 600;
    const SimResult result = on(1, {first, whole, fast, slow}).run();
    CPPUNIT_ASSERT_EQUAL(2.0, of_job(result, 3).start_s);
    CPPUNIT_ASSERT(of_job(result, 3).backfilled);
    CPPUNIT_ASSERT(of_job(result, 4).start_s >= of_job(result, 2).end_s);
    CPPUNIT_ASSERT(!of_job(result, 2).backfilled);
    SimRun free = on(1, {first, whole, fast, slow});
    free.options.settings.promises = 0;
    CPPUNIT_ASSERT_EQUAL(3.0, of_job(free.run(), 4).start_s);
  }

  void a_plan_that_may_not_start_blocks_nobody_behind_it() {
    // 3 is planned where 1 leaves room, but would stay beyond what 2 was promised; 4, behind it, is gone in time.
    SimJob first = sim_job(1, 0, 4, 100), whole = sim_job(2, 1, 8, 10), slow = sim_job(3, 2, 4, 20),
           fast = sim_job(4, 3, 4, 20);
    first.time_limit_s = 240;
    slow.time_limit_s = 600;
    fast.time_limit_s = 120;
    const SimResult result = on(1, {first, whole, slow, fast}).run();
    CPPUNIT_ASSERT_EQUAL(3.0, of_job(result, 4).start_s);
    CPPUNIT_ASSERT(of_job(result, 3).start_s >= of_job(result, 2).end_s);
  }

  void a_round_that_ends_at_its_depth_is_followed_by_another() {
    std::vector<SimJob> jobs;
    for (std::uint32_t id = 1; id <= 8; ++id) jobs.push_back(sim_job(id, 0, 1, 50));
    SimRun run = on(1, jobs);
    run.options.depth = 3;
    for (const JobResult &job : run.run().jobs) CPPUNIT_ASSERT_EQUAL(0.0, job.start_s);
  }

  void shortest_first_and_priority_order_the_queue() {
    SimJob running = sim_job(1, 0, 8, 50), late_long = sim_job(2, 1, 8, 100), late_short = sim_job(3, 2, 8, 10);
    late_long.priority = 5;
    late_short.priority = 1;
    SimRun run = on(1, {running, late_short, late_long});
    std::swap(run.workload.jobs[1].submit_s, run.workload.jobs[2].submit_s);
    run.options.order = QueueOrder::submit;
    CPPUNIT_ASSERT(of_job(run.run(), 3).start_s < of_job(run.run(), 2).start_s);
    run.options.order = QueueOrder::priority;
    CPPUNIT_ASSERT(of_job(run.run(), 2).start_s < of_job(run.run(), 3).start_s);
    run.options.order = QueueOrder::shortest;
    CPPUNIT_ASSERT(of_job(run.run(), 3).start_s < of_job(run.run(), 2).start_s);
  }

  void waiting_ends_at_max_wait() {
    SimRun run = on(1, {sim_job(1, 0, 4, 100)});
    run.options.settings.max_wait_s = 37;
    const SimResult result = run.run(AlwaysWaits());
    CPPUNIT_ASSERT_EQUAL(37.0, result.jobs[0].start_s);
    CPPUNIT_ASSERT(result.waits > 0);
  }

  void rounds_are_at_multiples_of_the_interval() {
    SimRun run = on(2, {sim_job(1, 1, 8, 100), sim_job(2, 31, 8, 100), sim_job(3, 60, 1, 10)});
    run.options.interval_s = 30;
    const SimResult result = run.run();
    CPPUNIT_ASSERT_EQUAL(30.0, of_job(result, 1).start_s);
    CPPUNIT_ASSERT_EQUAL(60.0, of_job(result, 2).start_s);
    CPPUNIT_ASSERT_EQUAL(150.0, of_job(result, 3).start_s);
    SimRun waits = on(1, {sim_job(1, 0, 4, 100)});
    waits.options.interval_s = 30;
    waits.options.settings.max_wait_s = 37;
    CPPUNIT_ASSERT_EQUAL(60.0, waits.run(AlwaysWaits()).jobs[0].start_s);
  }

  void a_job_given_by_its_duration_takes_that_at_best() {
    SimJob job = sim_job(1, 0, 2, 0);
    job.duration_s = 77;
    CPPUNIT_ASSERT_EQUAL(77.0, on(1, {job}).run().jobs[0].ran());
  }

  void without_interference_every_job_goes_at_its_best() {
    SimRun run = on(2, random_jobs(80, 3).jobs);
    run.options.undisturbed = true;
    for (const JobResult &job : run.run().jobs) CPPUNIT_ASSERT_DOUBLES_EQUAL(1, job.slowdown(), 1e-9);
  }

  void noise_slows_down_and_is_the_same_again() {
    SimRun run = on(4, random_jobs(40, 3).jobs);
    const double quiet = run.run().makespan_s;
    run.options.noise = {0.2, 0.1};
    const double noisy = run.run().makespan_s;
    CPPUNIT_ASSERT(noisy > quiet); // the slowest of several workers sets the pace
    CPPUNIT_ASSERT_EQUAL(noisy, run.run().makespan_s);
    run.options.seed = 2;
    CPPUNIT_ASSERT(noisy != run.run().makespan_s);
  }

  void a_job_that_never_fits_is_refused() {
    try {
      on(2, {sim_job(9, 0, 17, 10)}).run();
      CPPUNIT_FAIL("it was not refused");
    } catch (const std::runtime_error &problem) {
      CPPUNIT_ASSERT_EQUAL(
          std::string("job 9 never fits on this cluster: workers 17, GPUs a worker 1, CPUs a worker 1, PS 0"),
          std::string(problem.what()));
    }
  }

  void gpus_allocated_and_useful_add_up() {
    const SimResult result = on(1, {sim_job(1, 0, 4, 100), sim_job(2, 0, 4, 100)}).run();
    CPPUNIT_ASSERT_DOUBLES_EQUAL(1, result.gpus_allocated, 1e-9);
    CPPUNIT_ASSERT_DOUBLES_EQUAL(0.5, result.gpus_useful, 1e-9);
    CPPUNIT_ASSERT_EQUAL(0.0, result.gpus_stranded);
    const SimResult half = on(2, {sim_job(1, 0, 2, 100)}).run();
    CPPUNIT_ASSERT_DOUBLES_EQUAL(2.0 / 16, half.gpus_allocated, 1e-9);
    CPPUNIT_ASSERT_DOUBLES_EQUAL(6.0 / 16, half.gpus_stranded, 1e-9);
    CPPUNIT_ASSERT(!half.usage.empty());
  }
};

CPPUNIT_TEST_SUITE_REGISTRATION(SimulateTest);

} // namespace harmony
