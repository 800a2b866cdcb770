#include "src/values/topology.h"

#include <cppunit/extensions/HelperMacros.h>

namespace harmony {

class TopologyTest : public CppUnit::TestFixture {
  CPPUNIT_TEST_SUITE(TopologyTest);
  CPPUNIT_TEST(each_way_between_gpus_has_its_word);
  CPPUNIT_TEST(nvlink_goes_before_pcie);
  CPPUNIT_TEST(a_sound_topology_has_no_problem);
  CPPUNIT_TEST(every_index_out_of_range_is_named);
  CPPUNIT_TEST_SUITE_END();

  // Two NUMA nodes. Domains: 0 bridge, 1 switch below it, 2 and 3 switches below that, 4 another bridge on the first
  // NUMA node, 5 a bridge on the second.
  static Topology sample() {
    Topology topology;
    topology.sockets = 2;
    topology.numa = {{0, {{0, 7}}, 1000}, {1, {{8, 15}}, 1000}};
    topology.domains = {{DomainKind::host_bridge, -1, 0}, {DomainKind::pcie_switch, 0, 0},
                        {DomainKind::pcie_switch, 1, 0},  {DomainKind::pcie_switch, 1, 0},
                        {DomainKind::host_bridge, -1, 0}, {DomainKind::host_bridge, -1, 1}};
    for (int domain : {2, 2, 3, 0, 4, 5}) {
      Gpu gpu;
      gpu.domain = domain;
      gpu.model = "v100";
      topology.gpus.push_back(gpu);
    }
    return topology;
  }

  void each_way_between_gpus_has_its_word() {
    const Topology topology = sample();
    CPPUNIT_ASSERT_EQUAL(std::string("X"), reach_word(topology, 1, 1));
    CPPUNIT_ASSERT_EQUAL(std::string("PIX"), reach_word(topology, 0, 1));
    CPPUNIT_ASSERT_EQUAL(std::string("PXB"), reach_word(topology, 0, 2));
    CPPUNIT_ASSERT_EQUAL(std::string("PHB"), reach_word(topology, 0, 3));
    CPPUNIT_ASSERT_EQUAL(std::string("NODE"), reach_word(topology, 0, 4));
    CPPUNIT_ASSERT_EQUAL(std::string("SYS"), reach_word(topology, 0, 5));
    for (int i = 0; i < 6; ++i)
      for (int j = 0; j < 6; ++j) CPPUNIT_ASSERT_EQUAL(reach_word(topology, i, j), reach_word(topology, j, i));
  }

  void nvlink_goes_before_pcie() {
    Topology topology = sample();
    topology.links = {{0, 5, 2}};
    CPPUNIT_ASSERT_EQUAL(std::string("NV2"), reach_word(topology, 5, 0));
    CPPUNIT_ASSERT_EQUAL(0, nvlinks(topology, 0, 1));
  }

  void a_sound_topology_has_no_problem() {
    CPPUNIT_ASSERT_EQUAL(std::string(), problem_with(sample()));
    CPPUNIT_ASSERT_EQUAL(std::string(), problem_with(Topology{}));
  }

  template <class Change> static bool spoiled(Change change) {
    Topology topology = sample();
    change(topology);
    return !problem_with(topology).empty();
  }

  void every_index_out_of_range_is_named() {
    CPPUNIT_ASSERT(spoiled([](Topology &t) { t.sockets = 0; }));
    CPPUNIT_ASSERT(spoiled([](Topology &t) { t.numa[1].socket = 2; }));
    CPPUNIT_ASSERT(spoiled([](Topology &t) { t.numa[0].cores = {{3, 1}}; }));
    CPPUNIT_ASSERT(spoiled([](Topology &t) { t.numa[0].cores = {{0, 3}, {4, 7}}; }));
    CPPUNIT_ASSERT(spoiled([](Topology &t) { t.domains[2].parent = 2; }));
    CPPUNIT_ASSERT(spoiled([](Topology &t) { t.domains[2].numa = 1; }));
    CPPUNIT_ASSERT(spoiled([](Topology &t) { t.domains[5].parent = 0; }));
    CPPUNIT_ASSERT(spoiled([](Topology &t) { t.gpus[0].domain = 6; }));
    CPPUNIT_ASSERT(spoiled([](Topology &t) { t.gpus[0].model = "V100 with spaces"; }));
    CPPUNIT_ASSERT(spoiled([](Topology &t) { t.nics.push_back({-1, 0, ""}); }));
    CPPUNIT_ASSERT(spoiled([](Topology &t) { t.disks.push_back({99, ""}); }));
    CPPUNIT_ASSERT(spoiled([](Topology &t) { t.links = {{1, 0, 2}}; }));
    CPPUNIT_ASSERT(spoiled([](Topology &t) { t.links = {{0, 1, 36}}; }));
    CPPUNIT_ASSERT(spoiled([](Topology &t) { t.links = {{0, 2, 1}, {0, 1, 1}}; }));
    CPPUNIT_ASSERT(spoiled([](Topology &t) { t.gpus.resize(max_gpus + 1); }));
  }
};

CPPUNIT_TEST_SUITE_REGISTRATION(TopologyTest);

} // namespace harmony
