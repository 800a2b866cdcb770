// What holds of the contention model whatever the cluster and the jobs, as rapidcheck properties.

#include "tests/unit/contention_fixtures.h"

#include <cppunit/extensions/HelperMacros.h>
#include <rapidcheck.h>

#include <algorithm>

namespace harmony {

using namespace fixtures;

namespace {

// Rounding may differ in the last digits where sums are made of other parts; nothing else may.
constexpr double rounding = 1 + 1e-12;

struct Situation {
  SimCluster cluster;
  std::vector<Occupant> jobs; // that fit beside each other
};

// 0 to n - 1, from the beginning: rapidcheck's early cases would be small ones, with room for one job only.
int below(int n) { return *rc::gen::resize(rc::kNominalSize, rc::gen::inRange(0, n)); }

SimCluster random_cluster() {
  const auto profile =
      *rc::gen::element<std::string>("servers6", "pcie8", "dgx1", "dgx2", "epyc4", "workstation2", "gh200");
  SimCluster cluster = machines(1 + below(4), profile);
  const auto mbps = *rc::gen::element<std::uint32_t>(0, 1000, 10000, 25000, 100000);
  cluster = with_network(cluster, mbps);
  if (below(6) == 0) cluster.nodes.back() = node("other", "pcie8");
  if (below(10) == 0) cluster.nodes.front().topology = nullptr;
  return cluster;
}

// Takes GPUs that are free still. A job may have PS, which share nodes with anything.
Occupant random_job(SimCluster &cluster) {
  const std::vector<std::string> types = JobTypes().names();
  const bool ps = below(2) == 0;
  std::vector<TasksOn> where;
  for (int i = 0; i < static_cast<int>(cluster.nodes.size()); ++i) {
    Bits &free = cluster.nodes[static_cast<std::size_t>(i)].free_gpus;
    std::vector<int> mine;
    for (const int gpu : each(free))
      if (below(3) == 0) mine.push_back(gpu);
    for (const int gpu : mine) free.clear(gpu);
    const int servers = ps ? below(3) : 0;
    if (!mine.empty() || servers > 0) where.push_back(tasks(i, mine, servers, 1 + below(4)));
  }
  Occupant made = job(*rc::gen::elementOf(types), where);
  if (made.workers == 0) return Occupant(); // no room
  return made;
}

Situation random_situation(std::size_t most_jobs = 6) {
  Situation made;
  made.cluster = random_cluster();
  SimCluster left = made.cluster;
  for (std::size_t i = 0; i < most_jobs; ++i) {
    const Occupant one = random_job(left);
    if (one.workers > 0) made.jobs.push_back(one);
  }
  return made;
}

std::vector<double> speeds(Truth &truth, const std::vector<Occupant> &jobs) {
  for (std::size_t i = 0; i < jobs.size(); ++i) truth.start(static_cast<int>(i), jobs[i]);
  std::vector<double> made;
  for (std::size_t i = 0; i < jobs.size(); ++i) made.push_back(truth.speed(static_cast<int>(i)));
  return made;
}

Capacities random_capacities() {
  Capacities made = Capacities::standard();
  for (double Capacities::*each :
       {&Capacities::pcie_switch, &Capacities::host_bridge, &Capacities::socket_link, &Capacities::memory,
        &Capacities::disk, &Capacities::nvlink, &Capacities::network_efficiency, &Capacities::ps_cpu_mb_per_s})
    made.*each *= (1 + below(200)) / 100.0;
  return made;
}

} // namespace

class ContentionPropertiesTest : public CppUnit::TestFixture {
  CPPUNIT_TEST_SUITE(ContentionPropertiesTest);
  CPPUNIT_TEST(speeds_are_above_0_and_never_above_those_alone);
  CPPUNIT_TEST(a_job_more_never_speeds_another_up);
  CPPUNIT_TEST(more_of_a_resource_never_slows_a_job);
  CPPUNIT_TEST(faster_networks_never_slow_a_job);
  CPPUNIT_TEST(a_job_that_came_and_went_changes_nothing);
  CPPUNIT_TEST(the_order_of_starts_does_not_matter);
  CPPUNIT_TEST(step_by_step_is_the_same_as_anew);
  CPPUNIT_TEST(whoever_is_not_named_goes_as_before);
  CPPUNIT_TEST_SUITE_END();

  template <class Property> static void check(const char *promise, Property property) {
    // The same cases in every run, unless RC_PARAMS says otherwise.
    setenv("RC_PARAMS", "seed=6 max_success=300", 0);
    CPPUNIT_ASSERT(rc::check(promise, property));
  }

  void speeds_are_above_0_and_never_above_those_alone() {
    check("speeds are above 0 and never above those alone", [] {
      const Situation situation = random_situation();
      const auto truth = make_contention(situation.cluster, JobTypes(), random_capacities());
      const std::vector<double> found = speeds(*truth, situation.jobs);
      for (std::size_t i = 0; i < found.size(); ++i) {
        RC_ASSERT(found[i] > 0);
        RC_ASSERT(found[i] <= truth->alone(situation.jobs[i]) * rounding);
      }
    });
  }

  void a_job_more_never_speeds_another_up() {
    check("a job more never speeds another up", [] {
      const Situation situation = random_situation();
      const auto truth = make_contention(situation.cluster, JobTypes(), random_capacities());
      std::vector<double> before;
      for (std::size_t i = 0; i < situation.jobs.size(); ++i) {
        truth->start(static_cast<int>(i), situation.jobs[i]);
        for (std::size_t j = 0; j < before.size(); ++j) {
          RC_ASSERT(truth->speed(static_cast<int>(j)) <= before[j] * rounding);
          before[j] = truth->speed(static_cast<int>(j));
        }
        before.push_back(truth->speed(static_cast<int>(i)));
      }
    });
  }

  void more_of_a_resource_never_slows_a_job() {
    check("more of a resource never slows a job", [] {
      const Situation situation = random_situation();
      const Capacities less = random_capacities();
      Capacities more = less;
      const auto resource = *rc::gen::element(
          &Capacities::pcie_switch, &Capacities::host_bridge, &Capacities::socket_link, &Capacities::memory,
          &Capacities::disk, &Capacities::nvlink, &Capacities::network_efficiency, &Capacities::ps_cpu_mb_per_s);
      more.*resource *= (101 + below(900)) / 100.0;
      const std::vector<double> slow = speeds(*make_contention(situation.cluster, JobTypes(), less), situation.jobs);
      const std::vector<double> fast = speeds(*make_contention(situation.cluster, JobTypes(), more), situation.jobs);
      for (std::size_t i = 0; i < slow.size(); ++i) RC_ASSERT(slow[i] <= fast[i] * rounding);
    });
  }

  void faster_networks_never_slow_a_job() {
    check("faster networks never slow a job", [] {
      const Situation situation = random_situation();
      const auto mbps = static_cast<std::uint32_t>(1000 + below(99000));
      const auto at = [&](std::uint32_t speed) {
        return speeds(*make_contention(with_network(situation.cluster, speed), JobTypes()), situation.jobs);
      };
      const std::vector<double> slow = at(mbps), fast = at(mbps * 2);
      for (std::size_t i = 0; i < slow.size(); ++i) RC_ASSERT(slow[i] <= fast[i] * rounding);
    });
  }

  void a_job_that_came_and_went_changes_nothing() {
    check("a job that came and went changes nothing", [] {
      const Situation situation = random_situation();
      RC_PRE(situation.jobs.size() > 1);
      const std::vector<Occupant> staying(situation.jobs.begin(), situation.jobs.end() - 1);
      const auto truth = make_contention(situation.cluster, JobTypes());
      const std::vector<double> before = speeds(*truth, staying);
      truth->start(50, situation.jobs.back());
      truth->end(50);
      for (std::size_t i = 0; i < before.size(); ++i) RC_ASSERT(truth->speed(static_cast<int>(i)) == before[i]);
    });
  }

  void the_order_of_starts_does_not_matter() {
    check("the order of starts does not matter", [] {
      const Situation situation = random_situation();
      std::vector<Occupant> turned = situation.jobs;
      std::reverse(turned.begin(), turned.end());
      const auto rules = make_contention(situation.cluster, JobTypes());
      const std::vector<double> forth = speeds(*rules->empty(), situation.jobs);
      std::vector<double> back = speeds(*rules->empty(), turned);
      std::reverse(back.begin(), back.end());
      RC_ASSERT(forth == back);
    });
  }

  // Comes and goes for a while, then compares with a model in which only those that are left were started.
  void step_by_step_is_the_same_as_anew() {
    check("step by step is the same as anew", [] {
      const Situation situation = random_situation(8);
      const auto truth = make_contention(situation.cluster, JobTypes());
      std::vector<bool> runs(situation.jobs.size(), false);
      const int events = situation.jobs.empty() ? 0 : below(30);
      for (int event = 0; event < events; ++event) {
        const auto key = static_cast<std::size_t>(below(static_cast<int>(situation.jobs.size())));
        if (runs[key])
          truth->end(static_cast<int>(key));
        else
          truth->start(static_cast<int>(key), situation.jobs[key]);
        runs[key] = !runs[key];
      }
      const auto anew = truth->empty();
      for (std::size_t i = 0; i < runs.size(); ++i)
        if (runs[i]) anew->start(static_cast<int>(i), situation.jobs[i]);
      for (std::size_t i = 0; i < runs.size(); ++i)
        if (runs[i]) RC_ASSERT(anew->speed(static_cast<int>(i)) == truth->speed(static_cast<int>(i)));
    });
  }

  void whoever_is_not_named_goes_as_before() {
    check("whoever is not named by touched() goes as before", [] {
      const Situation situation = random_situation();
      const auto truth = make_contention(situation.cluster, JobTypes());
      std::vector<double> before;
      const auto compare = [&] {
        const std::vector<int> &touched = truth->touched();
        RC_ASSERT(std::is_sorted(touched.begin(), touched.end()));
        for (std::size_t j = 0; j < before.size(); ++j)
          if (!std::binary_search(touched.begin(), touched.end(), static_cast<int>(j)))
            RC_ASSERT(truth->speed(static_cast<int>(j)) == before[j]);
      };
      for (std::size_t i = 0; i < situation.jobs.size(); ++i) {
        truth->start(static_cast<int>(i), situation.jobs[i]);
        compare();
        for (std::size_t j = 0; j < before.size(); ++j) before[j] = truth->speed(static_cast<int>(j));
        before.push_back(truth->speed(static_cast<int>(i)));
      }
      while (!before.empty()) {
        const int last = static_cast<int>(before.size()) - 1;
        before.pop_back();
        truth->end(last);
        compare();
        for (std::size_t j = 0; j < before.size(); ++j) before[j] = truth->speed(static_cast<int>(j));
      }
    });
  }
};
CPPUNIT_TEST_SUITE_REGISTRATION(ContentionPropertiesTest);

} // namespace harmony
