// The machines are in tests/topologies; generate.py there says how each is built.

#include "src/discover/hwloc_reader.h"

#include "tests/unit/topology_tables.h"

#include <cppunit/extensions/HelperMacros.h>
#include <hwloc.h>

namespace harmony {

class HwlocReaderTest : public CppUnit::TestFixture {
  CPPUNIT_TEST_SUITE(HwlocReaderTest);
  CPPUNIT_TEST(eight_pcie_gpus_are_pix_below_a_switch_node_within_a_socket_and_sys_across);
  CPPUNIT_TEST(two_gpus_on_root_ports_reach_each_other_through_the_host_bridge);
  CPPUNIT_TEST(the_hybrid_cube_of_a_dgx1_is_read_from_its_nvlinks);
  CPPUNIT_TEST(gpus_on_nvswitches_have_all_their_links_to_every_other);
  CPPUNIT_TEST(each_numa_node_of_an_epyc_has_its_own_cores_and_gpu);
  CPPUNIT_TEST(a_machine_without_gpus_has_nics_and_disks);
  CPPUNIT_TEST(two_levels_of_switches_are_told_apart);
  CPPUNIT_TEST(the_memory_of_a_gpu_is_no_numa_node);
  CPPUNIT_TEST(format_3_reads_the_same_as_format_2);
  CPPUNIT_TEST(gpus_have_the_model_memory_and_bus_id_that_the_driver_says);
  CPPUNIT_TEST(this_machine_reads_the_same_from_its_own_export);
  CPPUNIT_TEST_SUITE_END();

  static Topology machine(const std::string &name) {
    const HwlocResult result = read_xml_file(topologies_folder() + "/" + name + ".xml");
    CPPUNIT_ASSERT_EQUAL(std::string(), result.problem);
    CPPUNIT_ASSERT(result.topology.source == TopologySource::xml);
    return result.topology;
  }

  void eight_pcie_gpus_are_pix_below_a_switch_node_within_a_socket_and_sys_across() {
    const Topology pcie8 = machine("pcie8");
    assert_table(R"(       GPU0  GPU1  GPU2  GPU3  GPU4  GPU5  GPU6  GPU7
                     GPU0  X     PIX   NODE  NODE  SYS   SYS   SYS   SYS
                     GPU1  PIX   X     NODE  NODE  SYS   SYS   SYS   SYS
                     GPU2  NODE  NODE  X     PIX   SYS   SYS   SYS   SYS
                     GPU3  NODE  NODE  PIX   X     SYS   SYS   SYS   SYS
                     GPU4  SYS   SYS   SYS   SYS   X     PIX   NODE  NODE
                     GPU5  SYS   SYS   SYS   SYS   PIX   X     NODE  NODE
                     GPU6  SYS   SYS   SYS   SYS   NODE  NODE  X     PIX
                     GPU7  SYS   SYS   SYS   SYS   NODE  NODE  PIX   X    )",
                 gpu_matrix(pcie8));
    assert_table(R"(numa 0: socket 0 131072 MB cores 0-15
                    numa 1: socket 1 131072 MB cores 16-31)",
                 numa_table(pcie8));
    assert_table(R"(0 host bridge, numa 0:
                    1 switch in 0, numa 0: GPU0 GPU1 ib0
                    2 host bridge, numa 0:
                    3 switch in 2, numa 0: GPU2 GPU3
                    4 host bridge, numa 0: nvme0n1 nvme1n1
                    5 host bridge, numa 1:
                    6 switch in 5, numa 1: GPU4 GPU5 ib1
                    7 host bridge, numa 1:
                    8 switch in 7, numa 1: GPU6 GPU7)",
                 domain_table(pcie8));
  }

  void two_gpus_on_root_ports_reach_each_other_through_the_host_bridge() {
    const Topology workstation = machine("workstation2");
    assert_table(R"(       GPU0  GPU1
                     GPU0  X     PHB
                     GPU1  PHB   X    )",
                 gpu_matrix(workstation));
    assert_table("numa 0: socket 0 65536 MB cores 0-7", numa_table(workstation));
    assert_table("0 host bridge, numa 0: GPU0 GPU1 eno1 nvme0n1", domain_table(workstation));
  }

  void the_hybrid_cube_of_a_dgx1_is_read_from_its_nvlinks() {
    const Topology dgx1 = machine("dgx1");
    assert_table(R"(       GPU0  GPU1  GPU2  GPU3  GPU4  GPU5  GPU6  GPU7
                     GPU0  X     NV1   NV1   NV2   NV2   SYS   SYS   SYS
                     GPU1  NV1   X     NV2   NV1   SYS   NV2   SYS   SYS
                     GPU2  NV1   NV2   X     NV2   SYS   SYS   NV1   SYS
                     GPU3  NV2   NV1   NV2   X     SYS   SYS   SYS   NV1
                     GPU4  NV2   SYS   SYS   SYS   X     NV1   NV1   NV2
                     GPU5  SYS   NV2   SYS   SYS   NV1   X     NV2   NV1
                     GPU6  SYS   SYS   NV1   SYS   NV1   NV2   X     NV2
                     GPU7  SYS   SYS   SYS   NV1   NV2   NV1   NV2   X    )",
                 gpu_matrix(dgx1));
    assert_table(R"(numa 0: socket 0 262144 MB cores 0-19
                    numa 1: socket 1 262144 MB cores 20-39)",
                 numa_table(dgx1));
    assert_table(R"(0 host bridge, numa 0: enp1s0f0 enp1s0f1 sda sdb
                    1 switch in 0, numa 0: GPU0 GPU1 ib0
                    2 switch in 0, numa 0: GPU2 GPU3 ib1
                    3 host bridge, numa 1:
                    4 switch in 3, numa 1: GPU4 GPU5 ib2
                    5 switch in 3, numa 1: GPU6 GPU7 ib3)",
                 domain_table(dgx1));
  }

  void gpus_on_nvswitches_have_all_their_links_to_every_other() {
    const Topology dgx2 = machine("dgx2");
    assert_table(R"(     GPU0 GPU1 GPU2 GPU3 GPU4 GPU5 GPU6 GPU7 GPU8 GPU9 GPU10 GPU11 GPU12 GPU13 GPU14 GPU15
                    GPU0  X   NV6  NV6  NV6  NV6  NV6  NV6  NV6  NV6  NV6  NV6   NV6   NV6   NV6   NV6   NV6
                    GPU1  NV6 X    NV6  NV6  NV6  NV6  NV6  NV6  NV6  NV6  NV6   NV6   NV6   NV6   NV6   NV6
                    GPU2  NV6 NV6  X    NV6  NV6  NV6  NV6  NV6  NV6  NV6  NV6   NV6   NV6   NV6   NV6   NV6
                    GPU3  NV6 NV6  NV6  X    NV6  NV6  NV6  NV6  NV6  NV6  NV6   NV6   NV6   NV6   NV6   NV6
                    GPU4  NV6 NV6  NV6  NV6  X    NV6  NV6  NV6  NV6  NV6  NV6   NV6   NV6   NV6   NV6   NV6
                    GPU5  NV6 NV6  NV6  NV6  NV6  X    NV6  NV6  NV6  NV6  NV6   NV6   NV6   NV6   NV6   NV6
                    GPU6  NV6 NV6  NV6  NV6  NV6  NV6  X    NV6  NV6  NV6  NV6   NV6   NV6   NV6   NV6   NV6
                    GPU7  NV6 NV6  NV6  NV6  NV6  NV6  NV6  X    NV6  NV6  NV6   NV6   NV6   NV6   NV6   NV6
                    GPU8  NV6 NV6  NV6  NV6  NV6  NV6  NV6  NV6  X    NV6  NV6   NV6   NV6   NV6   NV6   NV6
                    GPU9  NV6 NV6  NV6  NV6  NV6  NV6  NV6  NV6  NV6  X    NV6   NV6   NV6   NV6   NV6   NV6
                    GPU10 NV6 NV6  NV6  NV6  NV6  NV6  NV6  NV6  NV6  NV6  X     NV6   NV6   NV6   NV6   NV6
                    GPU11 NV6 NV6  NV6  NV6  NV6  NV6  NV6  NV6  NV6  NV6  NV6   X     NV6   NV6   NV6   NV6
                    GPU12 NV6 NV6  NV6  NV6  NV6  NV6  NV6  NV6  NV6  NV6  NV6   NV6   X     NV6   NV6   NV6
                    GPU13 NV6 NV6  NV6  NV6  NV6  NV6  NV6  NV6  NV6  NV6  NV6   NV6   NV6   X     NV6   NV6
                    GPU14 NV6 NV6  NV6  NV6  NV6  NV6  NV6  NV6  NV6  NV6  NV6   NV6   NV6   NV6   X     NV6
                    GPU15 NV6 NV6  NV6  NV6  NV6  NV6  NV6  NV6  NV6  NV6  NV6   NV6   NV6   NV6   NV6   X  )",
                 gpu_matrix(dgx2));
    assert_table(R"(numa 0: socket 0 786432 MB cores 0-23
                    numa 1: socket 1 786432 MB cores 24-47)",
                 numa_table(dgx2));
    assert_table(R"(0 host bridge, numa 0:
                    1 switch in 0, numa 0: GPU0 GPU1 ib0
                    2 switch in 0, numa 0: GPU2 GPU3 ib1
                    3 host bridge, numa 0:
                    4 switch in 3, numa 0: GPU4 GPU5 ib2
                    5 switch in 3, numa 0: GPU6 GPU7 ib3
                    6 host bridge, numa 0: nvme0n1 nvme1n1
                    7 host bridge, numa 1:
                    8 switch in 7, numa 1: GPU8 GPU9 ib4
                    9 switch in 7, numa 1: GPU10 GPU11 ib5
                    10 host bridge, numa 1:
                    11 switch in 10, numa 1: GPU12 GPU13 ib6
                    12 switch in 10, numa 1: GPU14 GPU15 ib7
                    13 host bridge, numa 1: enp219s0)",
                 domain_table(dgx2));
  }

  void each_numa_node_of_an_epyc_has_its_own_cores_and_gpu() {
    const Topology epyc = machine("epyc4");
    assert_table(R"(       GPU0  GPU1  GPU2  GPU3
                     GPU0  X     SYS   SYS   SYS
                     GPU1  SYS   X     SYS   SYS
                     GPU2  SYS   SYS   X     SYS
                     GPU3  SYS   SYS   SYS   X    )",
                 gpu_matrix(epyc));
    CPPUNIT_ASSERT_EQUAL(1, epyc.sockets);
    assert_table(R"(numa 0: socket 0 65536 MB cores 0-15
                    numa 1: socket 0 65536 MB cores 16-31
                    numa 2: socket 0 65536 MB cores 32-47
                    numa 3: socket 0 65536 MB cores 48-63)",
                 numa_table(epyc));
    assert_table(R"(0 host bridge, numa 3: GPU0
                    1 host bridge, numa 2: GPU1 nvme0n1
                    2 host bridge, numa 1: GPU2 ib0
                    3 host bridge, numa 0: GPU3)",
                 domain_table(epyc));
  }

  void a_machine_without_gpus_has_nics_and_disks() {
    const Topology nogpu = machine("nogpu");
    CPPUNIT_ASSERT(nogpu.gpus.empty()); // the ASPEED's VGA is none
    CPPUNIT_ASSERT(nogpu.links.empty());
    assert_table(R"(numa 0: socket 0 98304 MB cores 0-11
                    numa 1: socket 1 98304 MB cores 12-23)",
                 numa_table(nogpu));
    assert_table(R"(0 host bridge, numa 0: sda sdb
                    1 host bridge, numa 0: ens1)",
                 domain_table(nogpu)); // and the CD drive is no disk
  }

  void two_levels_of_switches_are_told_apart() {
    const Topology twolevel = machine("twolevel");
    assert_table(R"(       GPU0  GPU1  GPU2  GPU3  GPU4  GPU5  GPU6  GPU7
                     GPU0  X     PIX   PXB   PXB   SYS   SYS   SYS   SYS
                     GPU1  PIX   X     PXB   PXB   SYS   SYS   SYS   SYS
                     GPU2  PXB   PXB   X     PIX   SYS   SYS   SYS   SYS
                     GPU3  PXB   PXB   PIX   X     SYS   SYS   SYS   SYS
                     GPU4  SYS   SYS   SYS   SYS   X     PIX   PXB   PXB
                     GPU5  SYS   SYS   SYS   SYS   PIX   X     PXB   PXB
                     GPU6  SYS   SYS   SYS   SYS   PXB   PXB   X     PIX
                     GPU7  SYS   SYS   SYS   SYS   PXB   PXB   PIX   X    )",
                 gpu_matrix(twolevel));
    assert_table(R"(0 host bridge, numa 0:
                    1 switch in 0, numa 0: ib0
                    2 switch in 1, numa 0: GPU0 GPU1
                    3 switch in 1, numa 0: GPU2 GPU3
                    4 host bridge, numa 1: nvme0n1
                    5 switch in 4, numa 1: ib1
                    6 switch in 5, numa 1: GPU4 GPU5
                    7 switch in 5, numa 1: GPU6 GPU7)",
                 domain_table(twolevel));
  }

  void the_memory_of_a_gpu_is_no_numa_node() {
    const Topology gh200 = machine("gh200");
    assert_table("numa 0: socket 0 491520 MB cores 0-71", numa_table(gh200));
    assert_table(R"(       GPU0
                     GPU0  X   )",
                 gpu_matrix(gh200));
    assert_table(R"(0 host bridge, numa 0: ib0
                    1 host bridge, numa 0: nvme0n1
                    2 host bridge, numa 0: GPU0)",
                 domain_table(gh200));
    CPPUNIT_ASSERT_EQUAL(98304u, gh200.gpus[0].memory_mb); // it says so itself
  }

  void format_3_reads_the_same_as_format_2() {
    const Topology two = machine("pcie8"), three = machine("pcie8-v3");
    CPPUNIT_ASSERT(same_for_placement(two, three));
    CPPUNIT_ASSERT_EQUAL(domain_table(two), domain_table(three)); // names too
  }

  void gpus_have_the_model_memory_and_bus_id_that_the_driver_says() {
    const Gpu v100 = machine("dgx1").gpus[7], a100 = machine("epyc4").gpus[0];
    CPPUNIT_ASSERT_EQUAL(std::string("tesla_v100-sxm2-32gb"), v100.model);
    CPPUNIT_ASSERT_EQUAL(32768u, v100.memory_mb);
    CPPUNIT_ASSERT_EQUAL(std::string("0000:89:00.0"), v100.bus_id);
    CPPUNIT_ASSERT_EQUAL(std::string("GPU-a0000007-0000-4000-8000-000000000007"), v100.uuid);
    CPPUNIT_ASSERT_EQUAL(3, v100.pcie_generation);
    CPPUNIT_ASSERT_EQUAL(16, v100.pcie_width);
    CPPUNIT_ASSERT_EQUAL(std::string("nvidia_a100-pcie-40gb"), a100.model);
    CPPUNIT_ASSERT_EQUAL(4, a100.pcie_generation);
  }

  void this_machine_reads_the_same_from_its_own_export() {
    const HwlocResult here = read_this_machine();
    CPPUNIT_ASSERT_EQUAL(std::string(), here.problem);
    CPPUNIT_ASSERT(here.topology.source == TopologySource::hwloc);
    CPPUNIT_ASSERT(!here.topology.numa.empty() && !here.topology.numa[0].cores.empty());

    const TemporaryFile file("");
    hwloc_topology_t topology = nullptr;
    hwloc_topology_init(&topology);
    hwloc_topology_set_flags(topology, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED);
    hwloc_topology_set_io_types_filter(topology, HWLOC_TYPE_FILTER_KEEP_ALL);
    CPPUNIT_ASSERT_EQUAL(0, hwloc_topology_load(topology));
    CPPUNIT_ASSERT_EQUAL(0, hwloc_topology_export_xml(topology, file.path.c_str(), 0));
    hwloc_topology_destroy(topology);
    const HwlocResult read = read_xml_file(file.path);
    CPPUNIT_ASSERT_EQUAL(std::string(), read.problem);
    CPPUNIT_ASSERT_EQUAL(domain_table(here.topology), domain_table(read.topology));
    CPPUNIT_ASSERT_EQUAL(here.topology.numa.size(), read.topology.numa.size());
    for (std::size_t i = 0; i < here.topology.numa.size(); ++i)
      CPPUNIT_ASSERT(here.topology.numa[i].cores == read.topology.numa[i].cores);
  }
};

CPPUNIT_TEST_SUITE_REGISTRATION(HwlocReaderTest);

} // namespace harmony
