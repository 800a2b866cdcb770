#include "src/discover/merge_nvml.h"
#include "src/values/model_name.h"

#include <cppunit/extensions/HelperMacros.h>

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

namespace harmony {

class MergeNvmlTest : public CppUnit::TestFixture {
  CPPUNIT_TEST_SUITE(MergeNvmlTest);
  CPPUNIT_TEST(the_matrix_of_a_cube_is_what_nvidia_smi_says);
  CPPUNIT_TEST(the_matrix_of_an_nvswitch_machine_is_what_nvidia_smi_says);
  CPPUNIT_TEST(a_matched_gpu_gets_every_fact_and_keeps_its_domain);
  CPPUNIT_TEST(the_order_of_nvml_does_not_matter);
  CPPUNIT_TEST(what_nvml_does_not_know_stays);
  CPPUNIT_TEST(mig_is_taken_over);
  CPPUNIT_TEST(a_lost_gpu_keeps_its_place_and_loses_its_links);
  CPPUNIT_TEST(gpus_are_numbered_by_their_device_files);
  CPPUNIT_TEST(a_gpu_lost_without_address_is_the_one_that_is_left_over);
  CPPUNIT_TEST(when_it_cannot_be_told_which_gpu_is_lost_all_are_kept);
  CPPUNIT_TEST(a_gpu_that_nvml_does_not_list_is_kept_with_its_links);
  CPPUNIT_TEST(a_gpu_that_hwloc_does_not_see_is_added_in_bus_order);
  CPPUNIT_TEST(a_machine_without_any_domain_gets_one_for_an_added_gpu);
  CPPUNIT_TEST(links_need_both_ends);
  CPPUNIT_TEST(without_nvml_nothing_changes_and_the_problem_is_noted);
  CPPUNIT_TEST(a_machine_without_gpus_does_not_mention_a_missing_nvml);
  CPPUNIT_TEST(nvml_without_gpus_leaves_the_source);
  CPPUNIT_TEST(models_are_named_as_slurm_names_them);
  CPPUNIT_TEST_SUITE_END();

  std::vector<std::string> notes;

  static NvmlReport read(const char *scenario) {
    const char *directory = std::getenv("HARMONY_NVML_STAND_IN");
    const std::string path = std::string(directory ? directory : "tests/nvml/.libs") + "/libnvidia-ml.so.1";
    if (access(path.c_str(), R_OK) != 0)
      CPPUNIT_FAIL("no stand-in for NVML at " + path + ": build tests/nvml, or set HARMONY_NVML_STAND_IN");
    setenv("HARMONY_NVML_SCENARIO", scenario, 1);
    return read_nvml(std::chrono::seconds(60), path.c_str());
  }

  // Two sockets, on each a host bridge with two switches; the GPUs in equal parts below the switches.
  static Topology machine(const std::vector<std::string> &buses) {
    Topology topology;
    topology.source = TopologySource::hwloc;
    topology.sockets = 2;
    topology.numa = {{0, {{0, 19}}, 1000}, {1, {{20, 39}}, 1000}};
    for (int socket : {0, 1}) {
      const int bridge = static_cast<int>(topology.domains.size());
      topology.domains.push_back({DomainKind::host_bridge, -1, socket});
      for (int i = 0; i < 2; ++i) topology.domains.push_back({DomainKind::pcie_switch, bridge, socket});
    }
    const int switches[] = {1, 2, 4, 5};
    for (std::size_t i = 0; i < buses.size(); ++i) {
      Gpu gpu;
      gpu.domain = switches[i * 4 / buses.size()];
      gpu.bus_id = "0000:" + buses[i] + ":00.0";
      topology.gpus.push_back(gpu);
    }
    return topology;
  }

  static Topology dgx1() { return machine({"06", "07", "0a", "0b", "85", "86", "89", "8a"}); }

  static NvmlGpu nvml_gpu(const char *bus) {
    NvmlGpu gpu;
    gpu.bus_id = std::string("0000:") + bus + ":00.0";
    gpu.name = "Tesla V100";
    return gpu;
  }

  static NvmlReport report_of(std::vector<NvmlGpu> gpus) {
    NvmlReport report;
    report.present = true;
    report.gpus = std::move(gpus);
    return report;
  }

  static void join(NvmlGpu &one, NvmlGpu &other, int links) {
    one.peers.push_back({other.bus_id, links});
    other.peers.push_back({one.bus_id, links});
  }

  static std::string row(const Topology &topology, int gpu) {
    std::string words;
    for (std::size_t i = 0; i < topology.gpus.size(); ++i)
      words += (i ? " " : "") + reach_word(topology, gpu, static_cast<int>(i));
    return words;
  }

  static void assert_sound(const Topology &topology) {
    CPPUNIT_ASSERT_EQUAL(std::string(), problem_with(topology));
    CPPUNIT_ASSERT(topology.source == TopologySource::nvml);
  }

  bool noted(const char *part) const {
    return std::any_of(notes.begin(), notes.end(),
                       [&](const std::string &note) { return note.find(part) != std::string::npos; });
  }

public:
  void setUp() override { notes.clear(); }

private:
  void the_matrix_of_a_cube_is_what_nvidia_smi_says() {
    Topology topology = dgx1();
    merge_nvml(read("normal8"), topology, notes);
    assert_sound(topology);
    CPPUNIT_ASSERT(notes.empty());
    const char *rows[] = {"X NV1 NV1 NV2 NV2 SYS SYS SYS", "NV1 X NV2 NV1 SYS NV2 SYS SYS",
                          "NV1 NV2 X NV2 SYS SYS NV1 SYS", "NV2 NV1 NV2 X SYS SYS SYS NV1",
                          "NV2 SYS SYS SYS X NV1 NV1 NV2", "SYS NV2 SYS SYS NV1 X NV2 NV1",
                          "SYS SYS NV1 SYS NV1 NV2 X NV2", "SYS SYS SYS NV1 NV2 NV1 NV2 X"};
    for (int i = 0; i < 8; ++i) CPPUNIT_ASSERT_EQUAL(std::string(rows[i]), row(topology, i));
  }

  void the_matrix_of_an_nvswitch_machine_is_what_nvidia_smi_says() {
    Topology topology =
        machine({"34", "36", "39", "3b", "57", "59", "5c", "5e", "b7", "b9", "bc", "be", "e0", "e2", "e5", "e7"});
    merge_nvml(read("nvswitch16"), topology, notes);
    assert_sound(topology);
    CPPUNIT_ASSERT_EQUAL(std::size_t(16 * 15 / 2), topology.links.size());
    for (int i = 0; i < 16; ++i)
      for (int j = 0; j < 16; ++j) CPPUNIT_ASSERT_EQUAL(std::string(i == j ? "X" : "NV6"), reach_word(topology, i, j));
  }

  void a_matched_gpu_gets_every_fact_and_keeps_its_domain() {
    Topology topology = dgx1();
    merge_nvml(read("normal8"), topology, notes);
    const Gpu &gpu = topology.gpus.at(5);
    CPPUNIT_ASSERT_EQUAL(4, gpu.domain);
    CPPUNIT_ASSERT_EQUAL(std::string("tesla_v100-sxm2-32gb"), gpu.model);
    CPPUNIT_ASSERT_EQUAL(std::uint32_t(32768), gpu.memory_mb);
    CPPUNIT_ASSERT_EQUAL(std::string("GPU-00000000-0000-0000-0000-000000000005"), gpu.uuid);
    CPPUNIT_ASSERT_EQUAL(std::string("/dev/nvidia5"), gpu.device);
    CPPUNIT_ASSERT_EQUAL(3, gpu.pcie_generation);
    CPPUNIT_ASSERT_EQUAL(16, gpu.pcie_width);
  }

  void the_order_of_nvml_does_not_matter() {
    Topology forward = dgx1(), backward = dgx1();
    NvmlReport report = read("normal8");
    merge_nvml(report, forward, notes);
    std::reverse(report.gpus.begin(), report.gpus.end());
    merge_nvml(report, backward, notes);
    CPPUNIT_ASSERT(same_for_placement(forward, backward));
    CPPUNIT_ASSERT_EQUAL(forward.gpus[2].uuid, backward.gpus[2].uuid);
  }

  void what_nvml_does_not_know_stays() {
    Topology topology = machine({"06"});
    topology.gpus[0].model = "gv100gl";
    topology.gpus[0].memory_mb = 16384;
    NvmlGpu bare = nvml_gpu("06");
    bare.name.clear();
    merge_nvml(report_of({bare}), topology, notes);
    CPPUNIT_ASSERT_EQUAL(std::string("gv100gl"), topology.gpus[0].model);
    CPPUNIT_ASSERT_EQUAL(std::uint32_t(16384), topology.gpus[0].memory_mb);
  }

  void mig_is_taken_over() {
    Topology topology = machine({"3b", "af"});
    merge_nvml(read("mig"), topology, notes);
    assert_sound(topology);
    for (const Gpu &gpu : topology.gpus) CPPUNIT_ASSERT_EQUAL(gpu.bus_id == "0000:af:00.0", gpu.mig);
  }

  static void assert_cube_with_gpu_3_lost(const Topology &topology) {
    assert_sound(topology);
    CPPUNIT_ASSERT_EQUAL(std::size_t(8), topology.gpus.size());
    for (int gpu = 0; gpu < 8; ++gpu) CPPUNIT_ASSERT_EQUAL(gpu == 3, topology.gpus[gpu].lost);
    for (const Link &link : topology.links) CPPUNIT_ASSERT(link.first != 3 && link.second != 3);
    CPPUNIT_ASSERT_EQUAL(2, nvlinks(topology, 0, 4));
    CPPUNIT_ASSERT_EQUAL(1, nvlinks(topology, 0, 1));
  }

  void a_lost_gpu_keeps_its_place_and_loses_its_links() {
    Topology topology = dgx1();
    merge_nvml(read("lost"), topology, notes);
    assert_cube_with_gpu_3_lost(topology);
    CPPUNIT_ASSERT(noted("GPU 0000:0b:00.0 is lost"));
  }

  void a_gpu_lost_without_address_is_the_one_that_is_left_over() {
    Topology topology = dgx1();
    merge_nvml(read("lost_handle"), topology, notes);
    assert_cube_with_gpu_3_lost(topology);
    CPPUNIT_ASSERT(noted("GPU 0000:0b:00.0 is lost"));
  }

  void gpus_are_numbered_by_their_device_files() {
    Topology topology = machine({"06", "07", "0a"});
    NvmlGpu one = nvml_gpu("06"), other = nvml_gpu("07"), third = nvml_gpu("0a");
    one.device = "/dev/nvidia2";
    other.device = "/dev/nvidia0";
    third.device = "/dev/nvidia1";
    join(one, other, 2);
    merge_nvml(report_of({one, other, third}), topology, notes);
    CPPUNIT_ASSERT_EQUAL(std::string("0000:07:00.0"), topology.gpus[0].bus_id);
    CPPUNIT_ASSERT_EQUAL(std::string("0000:06:00.0"), topology.gpus[2].bus_id);
    CPPUNIT_ASSERT(topology.links == (std::vector<Link>{{0, 2, 2}}));
  }

  void when_it_cannot_be_told_which_gpu_is_lost_all_are_kept() {
    Topology topology = machine({"06", "07", "0a"});
    NvmlGpu lost;
    lost.lost = true;
    merge_nvml(report_of({nvml_gpu("06"), lost}), topology, notes);
    assert_sound(topology);
    CPPUNIT_ASSERT_EQUAL(std::size_t(3), topology.gpus.size());
    CPPUNIT_ASSERT(noted("cannot tell which are lost"));
  }

  void a_gpu_that_nvml_does_not_list_is_kept_with_its_links() {
    Topology topology = machine({"06", "07", "0a"});
    topology.links = {{0, 1, 3}, {0, 2, 4}};
    merge_nvml(report_of({nvml_gpu("06"), nvml_gpu("0a")}), topology, notes);
    assert_sound(topology);
    CPPUNIT_ASSERT_EQUAL(std::size_t(3), topology.gpus.size());
    CPPUNIT_ASSERT(topology.links == (std::vector<Link>{{0, 1, 3}}));
    CPPUNIT_ASSERT(noted("GPU 0000:07:00.0: NVML does not list it"));
  }

  void a_gpu_that_hwloc_does_not_see_is_added_in_bus_order() {
    Topology topology = machine({"06", "0a"});
    NvmlGpu one = nvml_gpu("06"), unseen = nvml_gpu("07"), other = nvml_gpu("0a");
    join(one, other, 2);
    join(unseen, other, 1);
    merge_nvml(report_of({one, other, unseen}), topology, notes);
    assert_sound(topology);
    CPPUNIT_ASSERT_EQUAL(std::size_t(3), topology.gpus.size());
    CPPUNIT_ASSERT_EQUAL(std::string("0000:07:00.0"), topology.gpus[1].bus_id);
    CPPUNIT_ASSERT_EQUAL(std::string("tesla_v100"), topology.gpus[1].model);
    CPPUNIT_ASSERT_EQUAL(0, topology.gpus[1].domain);
    CPPUNIT_ASSERT(topology.links == (std::vector<Link>{{0, 2, 2}, {1, 2, 1}}));
    CPPUNIT_ASSERT(noted("GPU 0000:07:00.0: hwloc does not see it"));
  }

  void a_machine_without_any_domain_gets_one_for_an_added_gpu() {
    Topology topology;
    merge_nvml(report_of({nvml_gpu("06")}), topology, notes);
    assert_sound(topology);
    CPPUNIT_ASSERT_EQUAL(std::size_t(1), topology.domains.size());
    CPPUNIT_ASSERT(topology.domains[0].kind == DomainKind::host_bridge);
  }

  void links_need_both_ends() {
    Topology topology = machine({"06", "07", "0a"});
    NvmlGpu one = nvml_gpu("06"), other = nvml_gpu("07"), third = nvml_gpu("0a");
    one.peers = {{other.bus_id, 4}, {third.bus_id, 1}};
    other.peers = {{one.bus_id, 3}};
    merge_nvml(report_of({one, other, third}), topology, notes);
    CPPUNIT_ASSERT(topology.links == (std::vector<Link>{{0, 1, 3}}));
  }

  void without_nvml_nothing_changes_and_the_problem_is_noted() {
    Topology topology = dgx1();
    merge_nvml(read("mismatch"), topology, notes);
    CPPUNIT_ASSERT(topology.source == TopologySource::hwloc);
    CPPUNIT_ASSERT(same_for_placement(dgx1(), topology));
    CPPUNIT_ASSERT_EQUAL(std::size_t(1), notes.size());
    CPPUNIT_ASSERT(noted("different versions"));
  }

  void a_machine_without_gpus_does_not_mention_a_missing_nvml() {
    Topology topology = machine({});
    merge_nvml(read_nvml(std::chrono::seconds(60), "/nonexistent/libnvidia-ml.so.1"), topology, notes);
    CPPUNIT_ASSERT(notes.empty());
  }

  void nvml_without_gpus_leaves_the_source() {
    Topology topology = machine({"06"});
    merge_nvml(read("no_devices"), topology, notes);
    CPPUNIT_ASSERT(topology.source == TopologySource::hwloc);
    CPPUNIT_ASSERT_EQUAL(std::size_t(1), topology.gpus.size());
    CPPUNIT_ASSERT(noted("sees no GPU"));
  }

  void models_are_named_as_slurm_names_them() {
    CPPUNIT_ASSERT_EQUAL(std::string("nvidia_a100-sxm4-80gb"), clean_model("NVIDIA A100-SXM4-80GB"));
    CPPUNIT_ASSERT_EQUAL(std::string("quadro_rtx_6000_8000"), clean_model(" Quadro RTX 6000/8000\n"));
    CPPUNIT_ASSERT_EQUAL(std::string("a_b_1.2+3-4"), clean_model("A\x01"
                                                                 "b\xff"
                                                                 "1.2+3-4"));
    CPPUNIT_ASSERT_EQUAL(std::string(48, 'x'), clean_model(std::string(200, 'X')));
    CPPUNIT_ASSERT_EQUAL(std::string(), clean_model("  "));
  }
};

CPPUNIT_TEST_SUITE_REGISTRATION(MergeNvmlTest);

} // namespace harmony
