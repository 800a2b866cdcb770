#include "src/discover/profiles.h"

#include <cppunit/extensions/HelperMacros.h>

#include <algorithm>
#include <set>
#include <string>

namespace harmony {

class ProfilesTest : public CppUnit::TestFixture {
  CPPUNIT_TEST_SUITE(ProfilesTest);
  CPPUNIT_TEST(every_name_gives_a_sound_topology);
  CPPUNIT_TEST(the_names_are_in_order_and_complete);
  CPPUNIT_TEST(an_unknown_name_gives_none);
  CPPUNIT_TEST(cores_are_numbered_without_holes);
  CPPUNIT_TEST(servers6_pcie8_and_dgx2_are_those_of_the_test_cluster);
  CPPUNIT_TEST(a_v100_of_dgx1_and_dgx2_uses_all_its_six_nvlinks);
  CPPUNIT_TEST(a_gpu_of_epyc4_has_a_numa_node_to_itself);
  CPPUNIT_TEST(dgx2_has_two_levels_of_switches);
  CPPUNIT_TEST(quad4_has_two_gpus_below_a_switch_of_each_socket);
  CPPUNIT_TEST(nogpu_has_none);
  CPPUNIT_TEST_SUITE_END();

  static Topology profile(const char *name) { return synthetic_topology(name).value(); }

  static int cores(const Topology &topology) {
    int count = 0;
    for (const NumaNode &node : topology.numa)
      for (const CoreRange &range : node.cores) count += range.last - range.first + 1;
    return count;
  }

  static CoreRange cores_of_gpu(const Topology &topology, int gpu) {
    return topology.numa[topology.domains[topology.gpus[gpu].domain].numa].cores.at(0);
  }

  void every_name_gives_a_sound_topology() {
    for (const std::string &name : synthetic_names()) {
      const std::optional<Topology> topology = synthetic_topology(name);
      CPPUNIT_ASSERT_MESSAGE(name, topology);
      CPPUNIT_ASSERT_EQUAL_MESSAGE(name, std::string(), problem_with(*topology));
      CPPUNIT_ASSERT_MESSAGE(name, topology->source == TopologySource::synthetic);
    }
  }

  void the_names_are_in_order_and_complete() {
    const std::vector<std::string> expected{"dgx1",  "dgx2",  "epyc4",    "gh200",       "nogpu",
                                            "pcie8", "quad4", "servers6", "workstation2"};
    CPPUNIT_ASSERT(synthetic_names() == expected);
  }

  void an_unknown_name_gives_none() {
    for (const char *name : {"", "dgx", "dgx22", "DGX2", "dgx2 "}) CPPUNIT_ASSERT(!synthetic_topology(name));
  }

  void cores_are_numbered_without_holes() {
    for (const std::string &name : synthetic_names()) {
      int next = 0;
      const Topology topology = profile(name.c_str());
      for (const NumaNode &node : topology.numa)
        for (const CoreRange &range : node.cores) {
          CPPUNIT_ASSERT_EQUAL_MESSAGE(name, next, range.first);
          next = range.last + 1;
        }
    }
  }

  // In the words of tests/cluster/topologies.
  void servers6_pcie8_and_dgx2_are_those_of_the_test_cluster() {
    struct Expected {
      const char *name, *model;
      int sockets, cores, gpus;
    };
    for (const Expected &expected : {Expected{"servers6", "gtx1080ti", 1, 8, 2}, Expected{"pcie8", "rtx6000", 2, 32, 8},
                                     Expected{"dgx2", "v100", 2, 48, 16}}) {
      const Topology topology = profile(expected.name);
      CPPUNIT_ASSERT_EQUAL(expected.sockets, topology.sockets);
      CPPUNIT_ASSERT_EQUAL(expected.cores, cores(topology));
      CPPUNIT_ASSERT_EQUAL(expected.gpus, static_cast<int>(topology.gpus.size()));
      const int cores_a_socket = expected.cores / expected.sockets, gpus_a_socket = expected.gpus / expected.sockets;
      for (int gpu = 0; gpu < expected.gpus; ++gpu) {
        const int first = gpu / gpus_a_socket * cores_a_socket;
        CPPUNIT_ASSERT(cores_of_gpu(topology, gpu) == (CoreRange{first, first + cores_a_socket - 1}));
        CPPUNIT_ASSERT_EQUAL(std::string(expected.model), topology.gpus[gpu].model);
      }
    }
  }

  void a_v100_of_dgx1_and_dgx2_uses_all_its_six_nvlinks() {
    const Topology dgx1 = profile("dgx1"), dgx2 = profile("dgx2");
    for (int gpu = 0; gpu < 8; ++gpu) {
      int links = 0;
      for (int other = 0; other < 8; ++other) links += nvlinks(dgx1, gpu, other);
      CPPUNIT_ASSERT_EQUAL(6, links);
    }
    CPPUNIT_ASSERT_EQUAL(std::size_t(16 * 15 / 2), dgx2.links.size());
    for (const Link &link : dgx2.links) CPPUNIT_ASSERT_EQUAL(6, link.count);
  }

  void a_gpu_of_epyc4_has_a_numa_node_to_itself() {
    const Topology topology = profile("epyc4");
    std::set<int> nodes;
    for (const Gpu &gpu : topology.gpus) nodes.insert(topology.domains[gpu.domain].numa);
    CPPUNIT_ASSERT_EQUAL(std::size_t(4), nodes.size());
    CPPUNIT_ASSERT(reach(topology, 0, 1) == Reach::sys);
  }

  void dgx2_has_two_levels_of_switches() {
    const Topology topology = profile("dgx2");
    CPPUNIT_ASSERT(reach(topology, 0, 1) == Reach::pix);
    CPPUNIT_ASSERT(reach(topology, 1, 2) == Reach::pxb);
    CPPUNIT_ASSERT(reach(topology, 3, 4) == Reach::phb);
    CPPUNIT_ASSERT(reach(topology, 7, 8) == Reach::sys);
  }

  void quad4_has_two_gpus_below_a_switch_of_each_socket() {
    const Topology topology = profile("quad4");
    CPPUNIT_ASSERT_EQUAL(24, cores(topology));
    CPPUNIT_ASSERT_EQUAL(std::size_t{4}, topology.gpus.size());
    CPPUNIT_ASSERT_EQUAL(std::size_t{1}, topology.nics.size());
    CPPUNIT_ASSERT(reach(topology, 0, 1) == Reach::pix);
    CPPUNIT_ASSERT(reach(topology, 1, 2) == Reach::sys);
    CPPUNIT_ASSERT(reach(topology, 2, 3) == Reach::pix);
  }

  void nogpu_has_none() { CPPUNIT_ASSERT(profile("nogpu").gpus.empty()); }
};

CPPUNIT_TEST_SUITE_REGISTRATION(ProfilesTest);

} // namespace harmony
