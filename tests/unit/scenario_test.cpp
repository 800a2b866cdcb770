#include "src/sim/input/scenario.h"

#include "src/sim/truth/job_type.h"
#include "src/sim/input/scenario_mix.h"
#include "tests/unit/sim_files.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace harmony {

using namespace fixtures;

class ScenarioTest : public CppUnit::TestFixture {
  CPPUNIT_TEST_SUITE(ScenarioTest);
  CPPUNIT_TEST(the_names_are_those_of_the_manual);
  CPPUNIT_TEST(an_unknown_name_is_refused_with_those_that_there_are);
  CPPUNIT_TEST(clusters_are_as_large_as_they_say);
  CPPUNIT_TEST(servers6_differ_in_their_network);
  CPPUNIT_TEST(mixed64_has_two_kinds_of_gpus);
  CPPUNIT_TEST(jobs_load_the_cluster_as_asked);
  CPPUNIT_TEST(the_harmony_testbed_has_three_arrivals_in_20_minutes_by_itself);
  CPPUNIT_TEST(the_same_seed_gives_the_same_jobs_and_another_one_others);
  CPPUNIT_TEST(more_jobs_begin_with_the_same_ones);
  CPPUNIT_TEST(every_type_is_one_of_the_built_in_ones);
  CPPUNIT_TEST(one_type_is_in_a_single_scenario);
  CPPUNIT_TEST(every_job_fits_and_cores_do_not_run_out_before_gpus);
  CPPUNIT_TEST(jobs_are_of_the_sizes_and_architectures_of_their_scenario);
  CPPUNIT_TEST(durations_are_minutes_to_hours_and_heavy_tailed);
  CPPUNIT_TEST(arrivals_after_philly_come_in_bursts);
  CPPUNIT_TEST(arrivals_double_in_the_second_half_of_shift_load);
  CPPUNIT_TEST(arrivals_ascend_from_0_to_the_end);
  CPPUNIT_TEST(a_load_is_set_by_moving_arrivals);
  CPPUNIT_TEST(a_load_or_number_of_jobs_that_cannot_be_is_refused);
  CPPUNIT_TEST_SUITE_END();

  static double load_of(const Workload &workload, const SimCluster &cluster) {
    double work = 0;
    for (const SimJob &job : workload.jobs) work += job.duration_s * job.gpus();
    return work / cluster.gpus() / (workload.jobs.back().submit_s - workload.jobs.front().submit_s);
  }
  static Workload jobs(const std::string &name, double load = 0.7, int count = 0, std::uint64_t seed = 1) {
    return scenario_jobs(make_scenario(name), load, count, seed);
  }
  static bool same(const SimJob &one, const SimJob &other) {
    return one.id == other.id && one.submit_s == other.submit_s && one.type == other.type &&
           one.workers == other.workers && one.ps == other.ps && one.duration_s == other.duration_s &&
           one.user == other.user;
  }

  void the_names_are_those_of_the_manual() {
    const std::vector<std::string> expected{"servers6", "servers6-50", "pcie8",      "pcie8-heavy", "mixed64",
                                            "scale512", "unseen",      "shift-load", "shift-mix"};
    CPPUNIT_ASSERT(scenario_names() == expected);
    for (const std::string &name : expected) {
      const Scenario scenario = make_scenario(name);
      CPPUNIT_ASSERT_EQUAL(name, scenario.name);
      CPPUNIT_ASSERT_EQUAL(name, scenario.cluster.name);
      CPPUNIT_ASSERT(!scenario.about.empty() && scenario.about.size() < 110);
    }
  }

  void an_unknown_name_is_refused_with_those_that_there_are() {
    CPPUNIT_ASSERT_EQUAL(std::string("no scenario \"mixed\"; there are: servers6, servers6-50, pcie8, pcie8-heavy, "
                                     "mixed64, scale512, unseen, shift-load, shift-mix"),
                         thrown([] { make_scenario("mixed"); }));
  }

  void clusters_are_as_large_as_they_say() {
    struct Expected {
      const char *name;
      std::size_t nodes;
      int gpus;
      std::size_t jobs;
    };
    for (const Expected &expected :
         {Expected{"servers6", 6, 12, 120}, Expected{"servers6-50", 6, 12, 120}, Expected{"pcie8", 16, 128, 300},
          Expected{"pcie8-heavy", 16, 128, 300}, Expected{"mixed64", 64, 256, 600},
          Expected{"scale512", 512, 2048, 2400}, Expected{"unseen", 64, 256, 600}, Expected{"shift-load", 64, 256, 600},
          Expected{"shift-mix", 64, 256, 600}}) {
      const Scenario scenario = make_scenario(expected.name);
      CPPUNIT_ASSERT_EQUAL_MESSAGE(expected.name, expected.nodes, scenario.cluster.nodes.size());
      CPPUNIT_ASSERT_EQUAL_MESSAGE(expected.name, expected.gpus, scenario.cluster.gpus());
      CPPUNIT_ASSERT_EQUAL_MESSAGE(expected.name, expected.jobs, scenario_jobs(scenario, 0.5, 0, 1).jobs.size());
    }
  }

  void servers6_differ_in_their_network() {
    CPPUNIT_ASSERT_EQUAL(25000u, make_scenario("servers6").cluster.nodes[0].topology->nics.at(0).speed_mbps);
    CPPUNIT_ASSERT_EQUAL(50000u, make_scenario("servers6-50").cluster.nodes[0].topology->nics.at(0).speed_mbps);
  }

  void mixed64_has_two_kinds_of_gpus() {
    std::multiset<std::string> models;
    for (const NodeState &node : make_scenario("mixed64").cluster.nodes) models.insert(node.gpu_models.at(0));
    CPPUNIT_ASSERT_EQUAL(std::size_t{32}, models.count("v100"));
    CPPUNIT_ASSERT_EQUAL(std::size_t{32}, models.count("rtx6000"));
  }

  void jobs_load_the_cluster_as_asked() {
    for (const std::string &name : scenario_names()) {
      const Scenario scenario = make_scenario(name);
      for (const double load : {0.5, 0.7, 0.9, 1.4})
        CPPUNIT_ASSERT_DOUBLES_EQUAL_MESSAGE(name, load, load_of(scenario_jobs(scenario, load, 0, 3), scenario.cluster),
                                             1e-9);
    }
  }

  void the_harmony_testbed_has_three_arrivals_in_20_minutes_by_itself() {
    for (const char *name : {"servers6", "servers6-50"}) {
      const Workload workload = jobs(name, 0);
      CPPUNIT_ASSERT_DOUBLES_EQUAL(400, workload.jobs.back().submit_s / 119, 1e-9);
      const double load = load_of(workload, make_scenario(name).cluster);
      CPPUNIT_ASSERT(load > 0.5 && load < 0.95);
    }
    CPPUNIT_ASSERT_DOUBLES_EQUAL(0.7, load_of(jobs("mixed64", 0), make_scenario("mixed64").cluster), 1e-9);
  }

  void the_same_seed_gives_the_same_jobs_and_another_one_others() {
    for (const std::string &name : scenario_names()) {
      const Workload one = jobs(name, 0.7, 100), again = jobs(name, 0.7, 100), other = jobs(name, 0.7, 100, 2);
      int alike = 0;
      for (std::size_t i = 0; i < one.jobs.size(); ++i) {
        CPPUNIT_ASSERT(same(one.jobs[i], again.jobs[i]));
        alike += same(one.jobs[i], other.jobs[i]) ? 1 : 0;
      }
      CPPUNIT_ASSERT(alike < 5);
    }
  }

  void more_jobs_begin_with_the_same_ones() {
    const Workload few = jobs("pcie8", 0.7, 10), more = jobs("pcie8", 0.7, 20);
    for (std::size_t i = 0; i < few.jobs.size(); ++i) {
      CPPUNIT_ASSERT_EQUAL(few.jobs[i].type, more.jobs[i].type);
      CPPUNIT_ASSERT_EQUAL(few.jobs[i].duration_s, more.jobs[i].duration_s);
    }
  }

  void every_type_is_one_of_the_built_in_ones() {
    const JobTypes types;
    for (const ScenarioMix &mix : scenario_mixes())
      for (const auto &share : mix.types) CPPUNIT_ASSERT_MESSAGE(share.value, types.knows(share.value));
    for (const auto &share : trace_mix()) CPPUNIT_ASSERT_MESSAGE(share.value, types.knows(share.value));
    CPPUNIT_ASSERT_EQUAL(std::size_t{8}, scenario_mixes().front().types.size());
  }

  void one_type_is_in_a_single_scenario() {
    for (const std::string &name : scenario_names()) {
      const Workload workload = jobs(name, 0.7, 400);
      const auto held_out = std::count_if(workload.jobs.begin(), workload.jobs.end(),
                                          [](const SimJob &job) { return job.type == held_out_type; });
      if (name == "unseen")
        CPPUNIT_ASSERT(held_out > 60 && held_out < 140);
      else
        CPPUNIT_ASSERT_EQUAL(std::ptrdiff_t{0}, held_out);
    }
    for (const auto &share : trace_mix()) CPPUNIT_ASSERT(std::string(share.value) != held_out_type);
  }

  void every_job_fits_and_cores_do_not_run_out_before_gpus() {
    for (const std::string &name : scenario_names()) {
      const Scenario scenario = make_scenario(name);
      const NodeState &node = scenario.cluster.nodes.front();
      for (const SimJob &job : scenario_jobs(scenario, 0.7, 0, 5).jobs) {
        CPPUNIT_ASSERT(job.gpus() * 2 <= scenario.cluster.gpus());
        CPPUNIT_ASSERT_EQUAL(job.cpus_per_worker, job.cpus_per_ps);
        const int cores = (job.workers + job.ps) * job.cpus_per_worker;
        CPPUNIT_ASSERT_MESSAGE(name, cores * node.free_gpus.count() <= job.gpus() * node.free_cores.count());
      }
    }
  }

  void jobs_are_of_the_sizes_and_architectures_of_their_scenario() {
    for (const SimJob &job : jobs("servers6").jobs) CPPUNIT_ASSERT(job.workers <= 4 && job.ps >= 1);
    std::set<int> sizes;
    for (const SimJob &job : jobs("pcie8").jobs) sizes.insert(job.gpus());
    CPPUNIT_ASSERT(*sizes.begin() == 1 && *sizes.rbegin() == 16 && sizes.count(3) && sizes.count(5) && sizes.count(7));
    int with_ps = 0, several = 0;
    for (const SimJob &job : jobs("mixed64").jobs) {
      several += job.workers > 1 ? 1 : 0;
      with_ps += job.ps > 0 ? 1 : 0;
      CPPUNIT_ASSERT(job.ps == 0 || job.workers > 1);
    }
    CPPUNIT_ASSERT(with_ps * 10 > several * 3 && with_ps * 10 < several * 5);
  }

  void durations_are_minutes_to_hours_and_heavy_tailed() {
    for (const std::string &name : scenario_names())
      for (const SimJob &job : jobs(name).jobs) CPPUNIT_ASSERT(job.duration_s >= 120 && job.duration_s <= 21600);
    std::vector<double> seconds;
    double sum = 0;
    for (const SimJob &job : jobs("mixed64").jobs) {
      seconds.push_back(job.duration_s);
      sum += job.duration_s;
    }
    std::sort(seconds.begin(), seconds.end());
    CPPUNIT_ASSERT(sum / 600 > 1.5 * seconds[300]);
  }

  static double median_gap(const Workload &workload) {
    std::vector<double> gaps;
    for (std::size_t i = 1; i < workload.jobs.size(); ++i)
      gaps.push_back(workload.jobs[i].submit_s - workload.jobs[i - 1].submit_s);
    std::sort(gaps.begin(), gaps.end());
    return gaps[gaps.size() / 2] / (workload.jobs.back().submit_s / static_cast<double>(gaps.size()));
  }

  // Relative to the mean: of independent arrivals ln 2, of the Philly trace 0.07.
  void arrivals_after_philly_come_in_bursts() {
    CPPUNIT_ASSERT_DOUBLES_EQUAL(0.69, median_gap(jobs("pcie8", 0.7, 4000)), 0.06);
    CPPUNIT_ASSERT_DOUBLES_EQUAL(0.09, median_gap(jobs("mixed64", 0.7, 4000)), 0.03);
  }

  void arrivals_double_in_the_second_half_of_shift_load() {
    const auto late = [](const Workload &workload) {
      const double half = workload.jobs.back().submit_s / 2;
      return std::count_if(workload.jobs.begin(), workload.jobs.end(),
                           [half](const SimJob &job) { return job.submit_s >= half; });
    };
    CPPUNIT_ASSERT_DOUBLES_EQUAL(10000, static_cast<double>(late(jobs("mixed64", 0.7, 20000))), 800);
    CPPUNIT_ASSERT_DOUBLES_EQUAL(13333, static_cast<double>(late(jobs("shift-load", 0.7, 20000))), 800);
  }

  void arrivals_ascend_from_0_to_the_end() {
    for (const Arrivals arrivals : {Arrivals::poisson, Arrivals::philly, Arrivals::doubling})
      for (const int count : {1, 2, 3, 1000})
        for (const double end : {1.0, 5e3, 1e6, 1e9}) {
          const std::vector<double> times = arrival_times(arrivals, count, end, 7);
          CPPUNIT_ASSERT_EQUAL(static_cast<std::size_t>(count), times.size());
          CPPUNIT_ASSERT(std::is_sorted(times.begin(), times.end()));
          CPPUNIT_ASSERT_EQUAL(0.0, times.front());
          CPPUNIT_ASSERT_EQUAL(count > 1 ? end : 0.0, times.back());
        }
  }

  void a_load_is_set_by_moving_arrivals() {
    const Scenario scenario = make_scenario("pcie8");
    Workload workload = scenario_jobs(scenario, 0.5, 0, 1);
    const double before = workload.jobs[10].submit_s;
    set_load(workload, scenario.cluster, 0.9, [](const SimJob &job) { return job.duration_s; });
    CPPUNIT_ASSERT_DOUBLES_EQUAL(0.9, load_of(workload, scenario.cluster), 1e-9);
    CPPUNIT_ASSERT_DOUBLES_EQUAL(before * 5 / 9, workload.jobs[10].submit_s, 1e-6);
    set_load(workload, scenario.cluster, 0.9, [](const SimJob &job) { return 2 * job.duration_s; });
    CPPUNIT_ASSERT_DOUBLES_EQUAL(0.45, load_of(workload, scenario.cluster), 1e-9);

    Workload at_once;
    at_once.jobs.resize(3);
    set_load(at_once, scenario.cluster, 0.9, [](const SimJob &) { return 100.0; });
    for (const SimJob &job : at_once.jobs) CPPUNIT_ASSERT_EQUAL(0.0, job.submit_s);
    Workload none;
    set_load(none, scenario.cluster, 0.9, [](const SimJob &) { return 100.0; });
  }

  void a_load_or_number_of_jobs_that_cannot_be_is_refused() {
    const Scenario scenario = make_scenario("servers6");
    CPPUNIT_ASSERT_EQUAL(std::string("a load of -1 is not 0 or more"),
                         thrown([&] { scenario_jobs(scenario, -1, 0, 1); }));
    CPPUNIT_ASSERT_EQUAL(std::string("-1 jobs are not from 0 to 10000000"),
                         thrown([&] { scenario_jobs(scenario, 0.5, -1, 1); }));
    Workload workload;
    CPPUNIT_ASSERT_EQUAL(std::string("a load of 0 is not above 0"),
                         thrown([&] { set_load(workload, scenario.cluster, 0, [](const SimJob &) { return 1.0; }); }));
    CPPUNIT_ASSERT(!thrown([&] { scenario_jobs(scenario, NAN, 0, 1); }).empty());
  }
};

CPPUNIT_TEST_SUITE_REGISTRATION(ScenarioTest);

} // namespace harmony
