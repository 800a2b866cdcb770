#include "src/values/gpu_speed.h"
#include "tests/unit/contention_fixtures.h"

#include <cppunit/extensions/HelperMacros.h>

#include <numeric>

namespace harmony {

using namespace fixtures;

class ContentionTest : public CppUnit::TestFixture {
  CPPUNIT_TEST_SUITE(ContentionTest);
  CPPUNIT_TEST(a_job_alone_goes_as_fast_as_alone_says);
  CPPUNIT_TEST(an_epoch_is_shorter_with_more_units);
  CPPUNIT_TEST(a_worker_of_two_gpus_is_two_units);
  CPPUNIT_TEST(the_slowest_gpu_sets_the_pace);
  CPPUNIT_TEST(a_step_is_computing_and_what_it_does_not_hide_of_the_ring);
  CPPUNIT_TEST(the_card_of_the_only_ps_carries_what_all_workers_exchange);
  CPPUNIT_TEST(ps_beside_their_workers_do_not_need_the_network);
  CPPUNIT_TEST(linked_gpus_do_not_exchange_over_pcie);
  CPPUNIT_TEST(too_few_cores_hold_a_job_up);
  CPPUNIT_TEST(six_jobs_packed_on_three_servers_lose_about_a_third);
  CPPUNIT_TEST(vgg16_on_four_nodes_loses_far_more_than_resnet);
  CPPUNIT_TEST(jobs_below_one_switch_hurt_each_other_most_and_on_two_sockets_least);
  CPPUNIT_TEST(two_network_heavy_jobs_hurt_each_other_more_than_one_and_a_cpu_heavy);
  CPPUNIT_TEST(two_jobs_that_read_much_hurt_each_other_at_the_disk);
  CPPUNIT_TEST(start_and_end_name_whose_speed_may_have_changed);
  CPPUNIT_TEST(a_key_can_be_used_again);
  CPPUNIT_TEST(nodes_without_topology_have_one_network_card);
  CPPUNIT_TEST(an_empty_twin_has_the_same_rules_and_no_jobs);
  CPPUNIT_TEST_SUITE_END();

  static std::unique_ptr<Truth> rules(const SimCluster &cluster) { return make_contention(cluster, JobTypes()); }

  void a_job_alone_goes_as_fast_as_alone_says() {
    const auto truth = rules(machines(4, "pcie8"));
    for (const std::string &type : JobTypes().names()) {
      const Occupant one = job(type, {tasks(1, {0, 3, 5}, 1), tasks(2, {7}, 1)});
      truth->start(0, one);
      CPPUNIT_ASSERT_EQUAL(truth->alone(one), truth->speed(0));
      truth->end(0);
    }
  }

  void an_epoch_is_shorter_with_more_units() {
    const auto truth = rules(machines(1, "dgx1"));
    CPPUNIT_ASSERT_DOUBLES_EQUAL(4 * truth->alone(evenly("resnet50", 1, 1)), truth->alone(evenly("resnet50", 1, 4)),
                                 1e-12);
    const JobType type = JobTypes().of("resnet50");
    CPPUNIT_ASSERT_DOUBLES_EQUAL(1 / (type.compute_s * type.steps_per_epoch), truth->alone(evenly("resnet50", 1, 1)),
                                 1e-12);
  }

  void a_worker_of_two_gpus_is_two_units() {
    const auto truth = rules(machines(1, "dgx1"));
    Occupant wide = evenly("resnet50", 1, 4);
    const double narrow = truth->alone(wide);
    wide.workers = wide.where.front().workers = 2;
    CPPUNIT_ASSERT_EQUAL(narrow, truth->alone(wide));
  }

  void the_slowest_gpu_sets_the_pace() {
    SimCluster cluster = machines(2, "dgx1");
    cluster.nodes[1].gpu_models.assign(8, "k80");
    const auto truth = rules(cluster);
    CPPUNIT_ASSERT_DOUBLES_EQUAL(gpu_speed("k80") * truth->alone(job("resnet50", {tasks(0, {0})})),
                                 truth->alone(job("resnet50", {tasks(1, {0})})), 1e-12);
    CPPUNIT_ASSERT(truth->alone(job("resnet50", {tasks(0, {0}), tasks(1, {0})})) <=
                   2 * truth->alone(job("resnet50", {tasks(1, {0})})));
  }

  // 1,000 MB among two GPUs on two nodes: 1,000 MB leave each card, at 10,000 MB/s of it.
  static JobTypes one_type(double compute_s, double overlap) {
    JobType made;
    made.name = "made";
    made.parameters_mb = 1000;
    made.compute_s = compute_s;
    made.steps_per_epoch = 1;
    made.input_mb = made.host_mb = made.cpu_s = made.memory_mb = 0;
    made.overlap = overlap;
    made.network_efficiency = 1;
    made.spread = 0;
    JobTypes types;
    types.set(made);
    return types;
  }
  static Capacities plain() {
    Capacities made = Capacities::standard();
    made.network_efficiency = 0.8;
    made.pcie_switch = made.host_bridge = 1e6; // so that only the network counts
    return made;
  }

  void a_step_is_computing_and_what_it_does_not_hide_of_the_ring() {
    const SimCluster cluster = machines(4, "dgx1");
    const auto step = [&](double overlap, int nodes) {
      return nodes / make_contention(cluster, one_type(0.1, overlap), plain())->alone(evenly("made", nodes, 1));
    };
    CPPUNIT_ASSERT_DOUBLES_EQUAL(0.1, step(0, 1), 1e-12);
    CPPUNIT_ASSERT_DOUBLES_EQUAL(0.2, step(0, 2), 1e-12);
    CPPUNIT_ASSERT_DOUBLES_EQUAL(0.16, step(0.4, 2), 1e-12);
    CPPUNIT_ASSERT_DOUBLES_EQUAL(0.1, step(1, 2), 1e-12);
    CPPUNIT_ASSERT_DOUBLES_EQUAL(0.1 + 0.15, step(0, 4), 1e-12); // 2 x 3/4 of 1,000 MB
  }

  void the_card_of_the_only_ps_carries_what_all_workers_exchange() {
    const auto truth = make_contention(machines(4, "dgx1"), one_type(0.1, 0), plain());
    const Occupant three = job("made", {tasks(0, {0}), tasks(1, {0}), tasks(2, {0}), tasks(3, {}, 1)});
    CPPUNIT_ASSERT_DOUBLES_EQUAL(0.1 + 0.3, 3 / truth->alone(three), 1e-9);
    const Occupant two_ps = job("made", {tasks(0, {0}), tasks(1, {0}), tasks(2, {}, 1), tasks(3, {}, 1)});
    CPPUNIT_ASSERT_DOUBLES_EQUAL(0.1 + 0.1, 2 / truth->alone(two_ps), 1e-9);
  }

  void ps_beside_their_workers_do_not_need_the_network() {
    const auto slow = rules(with_network(machines(2, "servers6"), 1000));
    const auto fast = rules(with_network(machines(2, "servers6"), 100000));
    const Occupant beside = job("vgg16", {tasks(0, {0, 1}, 1)}),
                   apart = job("vgg16", {tasks(0, {0, 1}), tasks(1, {}, 1)});
    CPPUNIT_ASSERT_EQUAL(fast->alone(beside), slow->alone(beside));
    CPPUNIT_ASSERT(slow->alone(apart) < 0.1 * slow->alone(beside));
  }

  void linked_gpus_do_not_exchange_over_pcie() {
    CPPUNIT_ASSERT(rules(machines(1, "dgx1"))->alone(evenly("vgg16", 1, 8)) >
                   1.2 * rules(machines(1, "pcie8"))->alone(evenly("vgg16", 1, 8)));
  }

  void too_few_cores_hold_a_job_up() {
    const auto truth = rules(machines(1, "pcie8"));
    const double with_one = truth->alone(job("ctc", {tasks(0, {0}, 0, 1)}));
    CPPUNIT_ASSERT_DOUBLES_EQUAL(2 * with_one, truth->alone(job("ctc", {tasks(0, {0}, 0, 2)})), 1e-9);
    const double enough = truth->alone(job("ctc", {tasks(0, {0}, 0, 8)}));
    CPPUNIT_ASSERT_EQUAL(enough, truth->alone(job("ctc", {tasks(0, {0}, 0, 16)})));
  }

  // Harmony (INFOCOM'19): a worker and a PS each, the PS on another server.
  void six_jobs_packed_on_three_servers_lose_about_a_third() {
    const auto truth = rules(machines(3, "servers6"));
    std::vector<Occupant> jobs;
    for (const char *type : {"vgg16", "resnet50", "ctc", "alexnet", "seq2seq", "inception3"}) {
      const int i = static_cast<int>(jobs.size()), worker = i % 3, ps = (i + 1) % 3;
      std::vector<TasksOn> where{tasks(worker, {i / 3}, 0, 2), tasks(ps, {}, 1, 2)};
      if (ps < worker) std::swap(where[0], where[1]);
      jobs.push_back(job(type, where));
    }
    const std::vector<double> relative = together(*truth, jobs);
    const double mean = std::accumulate(relative.begin(), relative.end(), 0.0) / static_cast<double>(relative.size());
    CPPUNIT_ASSERT_DOUBLES_EQUAL(0.67, mean, 0.05);
  }

  void vgg16_on_four_nodes_loses_far_more_than_resnet() {
    const auto truth = rules(machines(4, "dgx1"));
    const auto kept = [&](const char *type) {
      return truth->alone(evenly(type, 4, 2)) / truth->alone(evenly(type, 1, 8));
    };
    CPPUNIT_ASSERT(kept("vgg16") < 0.5);
    CPPUNIT_ASSERT(kept("resnet50") > 0.75);
    CPPUNIT_ASSERT(kept("resnet101") > 0.75);
  }

  void jobs_below_one_switch_hurt_each_other_most_and_on_two_sockets_least() {
    const auto truth = rules(machines(1, "dgx1")); // GPUs 0 and 1 below one switch, 0 to 3 below one bridge
    const auto kept = [&](const std::vector<int> &mine, const std::vector<int> &its) {
      return together(*truth, {job("graphsage", {tasks(0, mine)}), job("graphsage", {tasks(0, its)})}).front();
    };
    CPPUNIT_ASSERT(kept({0}, {1}) < 0.9);
    CPPUNIT_ASSERT(kept({0}, {1}) < kept({0}, {2}));
    CPPUNIT_ASSERT(kept({0, 1}, {2, 3}) < 0.9);
    CPPUNIT_ASSERT(kept({0, 1}, {2, 3}) < kept({0, 1}, {4, 5}));
    CPPUNIT_ASSERT_EQUAL(1.0, kept({0, 1}, {4, 5}));
    const auto light = together(*truth, {job("bert", {tasks(0, {0})}), job("bert", {tasks(0, {1})})});
    CPPUNIT_ASSERT_EQUAL(1.0, light.front());
  }

  void two_network_heavy_jobs_hurt_each_other_more_than_one_and_a_cpu_heavy() {
    const auto truth = rules(machines(2, "servers6"));
    const auto beside = [&](const char *type) {
      return together(*truth, {job("vgg16", {tasks(0, {0}), tasks(1, {0})}), job(type, {tasks(0, {1}), tasks(1, {1})})})
          .front();
    };
    CPPUNIT_ASSERT(beside("vgg16") < 0.7);
    CPPUNIT_ASSERT(beside("ctc") > 0.9);
  }

  void two_jobs_that_read_much_hurt_each_other_at_the_disk() {
    const auto truth = rules(machines(1, "dgx1"));
    const auto pair = [&](const char *type) {
      return together(*truth, {evenly("alexnet", 1, 4), evenly(type, 1, 4, 4)}).front();
    };
    CPPUNIT_ASSERT(pair("alexnet") < 0.9);
    CPPUNIT_ASSERT(pair("vgg16") > 0.95);
  }

  void start_and_end_name_whose_speed_may_have_changed() {
    const auto truth = rules(machines(4, "pcie8"));
    truth->start(0, job("vgg16", {tasks(0, {0}), tasks(1, {0})}));
    truth->start(1, job("vgg16", {tasks(3, {0})}));
    CPPUNIT_ASSERT(truth->touched() == std::vector<int>{1});
    truth->start(2, job("vgg16", {tasks(1, {1}), tasks(2, {0})}));
    CPPUNIT_ASSERT((truth->touched() == std::vector<int>{0, 2}));
    truth->end(0);
    CPPUNIT_ASSERT(truth->touched() == std::vector<int>{2});
    truth->end(1);
    CPPUNIT_ASSERT(truth->touched().empty());
  }

  void a_key_can_be_used_again() {
    const auto truth = rules(machines(2, "pcie8"));
    const Occupant first = evenly("vgg16", 2, 2), second = evenly("gpt2", 1, 4);
    truth->start(3, first);
    truth->end(3);
    truth->start(3, second);
    CPPUNIT_ASSERT_EQUAL(truth->alone(second), truth->speed(3));
  }

  void nodes_without_topology_have_one_network_card() {
    SimCluster cluster = machines(2, "servers6");
    for (NodeState &each : cluster.nodes) each.topology = nullptr;
    const auto truth = rules(cluster);
    const std::vector<Occupant> pair{job("vgg16", {tasks(0, {0}), tasks(1, {0})}),
                                     job("vgg16", {tasks(0, {1}), tasks(1, {1})})};
    CPPUNIT_ASSERT(together(*truth, pair).front() < 0.7);
    const auto known = rules(with_network(machines(2, "servers6"), 10000));
    CPPUNIT_ASSERT_DOUBLES_EQUAL(known->alone(pair[0]), truth->alone(pair[0]), 1e-12);
  }

  void an_empty_twin_has_the_same_rules_and_no_jobs() {
    const auto truth = rules(machines(2, "pcie8"));
    const Occupant one = evenly("vgg16", 2, 2), other = evenly("vgg16", 2, 2, 2);
    truth->start(0, one);
    const auto twin = truth->empty();
    twin->start(0, other);
    CPPUNIT_ASSERT_EQUAL(truth->alone(other), twin->speed(0));
    CPPUNIT_ASSERT_EQUAL(std::string("mechanistic"), twin->title());
  }
};
CPPUNIT_TEST_SUITE_REGISTRATION(ContentionTest);

} // namespace harmony
