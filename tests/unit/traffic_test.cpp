#include "src/sim/truth/traffic.h"

#include "tests/unit/contention_fixtures.h"

#include <cppunit/extensions/HelperMacros.h>

namespace harmony {

using namespace fixtures;

// On pcie8: GPUs 0 and 1 are below switch 1, 2 and 3 below switch 3, 4 and 5 below switch 6 (the second socket), 6 and
// 7 below switch 8; each switch has a host bridge of its own, numbered one less; network cards are below switches 1
// and 6.
class TrafficTest : public CppUnit::TestFixture {
  CPPUNIT_TEST_SUITE(TrafficTest);
  CPPUNIT_TEST(input_goes_from_the_disk_through_memory_and_pcie_to_each_gpu);
  CPPUNIT_TEST(a_ring_in_one_switch_uses_nothing_that_is_shared);
  CPPUNIT_TEST(a_ring_on_one_node_crosses_what_is_between_its_gpus);
  CPPUNIT_TEST(a_ring_across_nodes_goes_in_and_out_once_a_node);
  CPPUNIT_TEST(workers_and_ps_send_and_receive_as_much);
  CPPUNIT_TEST(the_network_card_nearest_to_a_gpu_is_used);
  CPPUNIT_TEST(tasks_count_where_they_use_a_resource);
  CPPUNIT_TEST(ps_with_few_cores_take_long_to_add_up);
  CPPUNIT_TEST(a_demand_does_not_depend_on_capacities);
  CPPUNIT_TEST_SUITE_END();

  std::vector<NodeResources> nodes_;
  JobType type_;

public:
  void setUp() override {
    nodes_.clear();
    for (const NodeState &each : machines(3, "pcie8").nodes)
      nodes_.emplace_back(each, nodes_.empty() ? 0 : nodes_.back().first() + nodes_.back().count());
    type_ = JobType();
    type_.parameters_mb = 120;
    type_.input_mb = type_.host_mb = type_.memory_mb = 0;
    type_.network_efficiency = 0.5;
    type_.spread = 3;
  }

private:
  Traffic traffic(const Occupant &job, const Capacities &capacities = Capacities::standard()) const {
    return find_traffic(type_, job, nodes_, capacities);
  }
  const Use *use(const Traffic &traffic, int node, int resource) const {
    for (const Use &each : traffic.uses)
      if (each.resource == nodes_[static_cast<std::size_t>(node)].first() + resource) return &each;
    return nullptr;
  }
  double exchanged(const Traffic &traffic, int node, int resource) const {
    const Use *found = use(traffic, node, resource);
    return found ? found->exchange_mb : 0;
  }

  void input_goes_from_the_disk_through_memory_and_pcie_to_each_gpu() {
    type_.input_mb = 1;
    type_.host_mb = 10;
    type_.memory_mb = 100;
    const Traffic found = traffic(job("t", {tasks(0, {0, 1, 4})}));
    const NodeResources &here = nodes_.front();
    CPPUNIT_ASSERT_EQUAL(3.0, use(found, 0, here.disk())->input_mb);
    CPPUNIT_ASSERT_EQUAL(1.0, use(found, 0, here.link())->input_mb); // the disk is on the first socket
    CPPUNIT_ASSERT_EQUAL(200.0, use(found, 0, here.memory(0))->input_mb);
    CPPUNIT_ASSERT_EQUAL(100.0, use(found, 0, here.memory(1))->input_mb);
    for (const int domain : {0, 1}) CPPUNIT_ASSERT_EQUAL(20.0, use(found, 0, domain)->input_mb);
    for (const int domain : {5, 6}) CPPUNIT_ASSERT_EQUAL(10.0, use(found, 0, domain)->input_mb);
    CPPUNIT_ASSERT(!use(found, 0, 3));
  }

  void a_ring_in_one_switch_uses_nothing_that_is_shared() {
    const Traffic found = traffic(job("t", {tasks(0, {0, 1})}));
    CPPUNIT_ASSERT(found.uses.empty());
    CPPUNIT_ASSERT_DOUBLES_EQUAL(120 / Capacities::standard().pcie_switch, found.own_exchange_s, 1e-12);
  }

  void a_ring_on_one_node_crosses_what_is_between_its_gpus() {
    const Traffic found = traffic(job("t", {tasks(0, {0, 1, 2, 4})})); // 2 x 3/4 of 120 MB from each to the next
    for (const int domain : {0, 1, 2, 3, 5, 6}) CPPUNIT_ASSERT_EQUAL(180.0, exchanged(found, 0, domain));
    CPPUNIT_ASSERT_EQUAL(180.0, exchanged(found, 0, nodes_.front().link())); // each way
    CPPUNIT_ASSERT_EQUAL(std::size_t{7}, found.uses.size());
    CPPUNIT_ASSERT_EQUAL(0.0, found.latency_s);
  }

  void a_ring_across_nodes_goes_in_and_out_once_a_node() {
    type_.ring_latency_s = 0.01;
    const Traffic found = traffic(job("t", {tasks(0, {0, 1}), tasks(1, {0}), tasks(2, {1})}));
    for (int node = 0; node < 3; ++node) {
      CPPUNIT_ASSERT_EQUAL(180.0, exchanged(found, node, nodes_.front().nic_in(0)));
      CPPUNIT_ASSERT_EQUAL(180.0, exchanged(found, node, nodes_.front().nic_out(0)));
      CPPUNIT_ASSERT(!use(found, node, 1)); // the card is below the same switch
    }
    CPPUNIT_ASSERT_DOUBLES_EQUAL(2 * (1 + 3 * (1 - 2.0 / 3)), use(found, 0, nodes_.front().nic_in(0))->stretch, 1e-12);
    CPPUNIT_ASSERT_DOUBLES_EQUAL(2 * 0.01 * (1 + 3 * (1 - 2.0 / 3)), found.latency_s, 1e-12);
  }

  void workers_and_ps_send_and_receive_as_much() {
    // Two of three workers and one of two PS on the first node.
    const Traffic found = traffic(job("t", {tasks(0, {0, 1}, 1), tasks(1, {0}, 1)}));
    const NodeResources &here = nodes_.front();
    // Each of the two sends 60 MB to the PS over there; the PS here has 60 MB from the worker over there.
    for (int node = 0; node < 2; ++node)
      for (const int nic : {here.nic_in(0), here.nic_out(0)}) CPPUNIT_ASSERT_EQUAL(180.0, exchanged(found, node, nic));
    // The workers' own copies and what passes the card, all through host memory.
    CPPUNIT_ASSERT_EQUAL(2 * 120.0 + 180, exchanged(found, 0, 1));
    CPPUNIT_ASSERT_EQUAL(120.0 + 180, exchanged(found, 1, 1));
    CPPUNIT_ASSERT_EQUAL(2.0, use(found, 0, here.nic_in(0))->stretch); // no ring: only what the type makes of a card
  }

  void the_network_card_nearest_to_a_gpu_is_used() {
    const NodeResources &here = nodes_.front();
    const auto card_of = [&](int gpu) {
      const Traffic found = traffic(job("t", {tasks(0, {gpu}), tasks(1, {0})}));
      return use(found, 0, here.nic_out(0)) ? 0 : 1;
    };
    CPPUNIT_ASSERT_EQUAL(0, card_of(0));
    CPPUNIT_ASSERT_EQUAL(0, card_of(3));
    CPPUNIT_ASSERT_EQUAL(1, card_of(4));
    CPPUNIT_ASSERT_EQUAL(1, card_of(7));
    CPPUNIT_ASSERT_EQUAL(0, here.nearest_nic(-1));
  }

  void tasks_count_where_they_use_a_resource() {
    type_.input_mb = 1;
    const Traffic found = traffic(job("t", {tasks(0, {0, 1, 2}), tasks(1, {}, 1), tasks(2, {}, 2)}));
    const NodeResources &here = nodes_.front();
    CPPUNIT_ASSERT_EQUAL(3.0, use(found, 0, here.disk())->weight);
    CPPUNIT_ASSERT_EQUAL(3.0, use(found, 0, here.nic_out(0))->weight);
    CPPUNIT_ASSERT_EQUAL(1.0, use(found, 1, here.nic_in(0))->weight);
    CPPUNIT_ASSERT_EQUAL(2.0, use(found, 2, here.nic_in(0))->weight);
  }

  void ps_with_few_cores_take_long_to_add_up() {
    Capacities slow = Capacities::standard();
    slow.ps_cpu_mb_per_s = 100;
    const auto added_up_in = [&](int cores) {
      return traffic(job("t", {tasks(0, {0, 1}, 0, cores), tasks(1, {}, 1, cores)}), slow).own_exchange_s;
    };
    CPPUNIT_ASSERT_DOUBLES_EQUAL(2.4, added_up_in(1), 1e-12); // 120 MB of each of two workers
    CPPUNIT_ASSERT_DOUBLES_EQUAL(0.6, added_up_in(4), 1e-12);
  }

  void a_demand_does_not_depend_on_capacities() {
    Capacities slow = Capacities::standard();
    slow.pcie_switch = slow.host_bridge = slow.nvlink = slow.ps_cpu_mb_per_s = 1;
    slow.network_efficiency = 0.01;
    const Occupant one = job("t", {tasks(0, {0, 3}, 1), tasks(1, {0}, 1)});
    const Traffic fast_one = traffic(one), slow_one = traffic(one, slow);
    for (std::size_t i = 0; i < fast_one.uses.size(); ++i)
      CPPUNIT_ASSERT_EQUAL(fast_one.demand(fast_one.uses[i]), slow_one.demand(slow_one.uses[i]));
  }
};
CPPUNIT_TEST_SUITE_REGISTRATION(TrafficTest);

} // namespace harmony
