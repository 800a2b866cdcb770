#include "src/publish/compact.h"
#include "src/publish/extra_field.h"

#include <cppunit/extensions/HelperMacros.h>

namespace harmony {

class CompactTest : public CppUnit::TestFixture {
  CPPUNIT_TEST_SUITE(CompactTest);
  CPPUNIT_TEST(an_8_gpu_node_is_written_as_documented);
  CPPUNIT_TEST(what_was_written_is_read_back_exactly);
  CPPUNIT_TEST(a_node_without_anything_has_a_form);
  CPPUNIT_TEST(every_cut_is_refused);
  CPPUNIT_TEST(another_version_is_refused_at_its_place);
  CPPUNIT_TEST(bad_texts_are_refused_with_their_position);
  CPPUNIT_TEST(numbers_cannot_make_it_allocate);
  CPPUNIT_TEST(a_text_that_is_too_long_is_refused);
  CPPUNIT_TEST(a_topology_has_one_text_only);
  CPPUNIT_TEST(other_words_of_the_extra_field_are_kept);
  CPPUNIT_TEST_SUITE_END();

  static constexpr const char *pcie8 =
      "HM1:s2;n0:0-15:128000/1:16-31:128000;db0/s0/s0/b1/s3/s3;grtx6000:24576:1+1+2+2+4+4+5+5;i1:100000/4:0;k0/3;.";

  static Topology pcie8_topology() {
    Topology topology;
    topology.sockets = 2;
    topology.numa = {{0, {{0, 15}}, 128000}, {1, {{16, 31}}, 128000}};
    for (int socket : {0, 1}) {
      topology.domains.push_back({DomainKind::host_bridge, -1, socket});
      const int bridge = static_cast<int>(topology.domains.size()) - 1;
      for (int i = 0; i < 2; ++i) topology.domains.push_back({DomainKind::pcie_switch, bridge, socket});
    }
    for (int domain : {1, 1, 2, 2, 4, 4, 5, 5}) {
      Gpu gpu;
      gpu.domain = domain;
      gpu.model = "rtx6000";
      gpu.memory_mb = 24576;
      gpu.uuid = "GPU-not-published";
      topology.gpus.push_back(gpu);
    }
    topology.nics = {{1, 100000, "ib0"}, {4, 0, "ib1"}};
    topology.disks = {{0, "nvme0"}, {3, "nvme1"}};
    return topology;
  }

  void an_8_gpu_node_is_written_as_documented() {
    CPPUNIT_ASSERT_EQUAL(std::string(pcie8), compact_form(pcie8_topology()));
  }

  static void round_trip(const Topology &topology) {
    const std::string text = compact_form(topology);
    const CompactResult result = parse_compact(text);
    CPPUNIT_ASSERT_EQUAL(std::string(), result.problem);
    CPPUNIT_ASSERT(same_for_placement(topology, result.topology));
    CPPUNIT_ASSERT_EQUAL(text, compact_form(result.topology));
  }

  void what_was_written_is_read_back_exactly() {
    Topology topology = pcie8_topology();
    round_trip(topology);
    topology.gpus[3].mig = true;
    topology.gpus[4].lost = true;
    topology.gpus[7].mig = topology.gpus[7].lost = true;
    topology.gpus[5].model = "a100-sxm4_80gb";
    topology.gpus[6].memory_mb = 0;
    topology.numa[0].cores = {{0, 3}, {8, 15}, {40, 40}};
    topology.links = {{0, 1, 2}, {0, 7, 18}, {6, 7, 35}};
    round_trip(topology);
  }

  void a_node_without_anything_has_a_form() {
    CPPUNIT_ASSERT_EQUAL(std::string("HM1:s1;."), compact_form(Topology{}));
    round_trip(Topology{});
  }

  void every_cut_is_refused() {
    const std::string text = pcie8;
    for (std::size_t length = 0; length < text.size(); ++length)
      CPPUNIT_ASSERT(!parse_compact(text.substr(0, length)).problem.empty());
  }

  void another_version_is_refused_at_its_place() {
    const CompactResult result = parse_compact("HM2:s1;.");
    CPPUNIT_ASSERT_EQUAL(std::string("expected '1'"), result.problem);
    CPPUNIT_ASSERT_EQUAL(std::size_t{2}, result.position);
  }

  void bad_texts_are_refused_with_their_position() {
    const struct {
      const char *text;
      std::size_t position;
    } cases[] = {
        {"", 0},
        {"HM1:", 4},
        {"HM1:s0;.", 8},
        {"HM1:s65;.", 7},
        {"HM1:s1;.x", 8},
        {"HM1:s1;n0:0-7:10;n0:8-9:10;.", 17},
        {"HM1:s1;n0:7-0:10;.", 18},
        {"HM1:s1;n1:0-7:10;.", 18},
        {"HM1:s1;n0:0-7:10;ds0;.", 20},
        {"HM1:s1;n0:0-7:10;db0;gV100:1:0;.", 22},
        {"HM1:s1;n0:0-7:10;db0;gv100:1:1;.", 32},
        {"HM1:s1;n0:0-7:10;db0;gv100:1:0/v100:1:0;.", 38},
        {"HM1:s1;n0:0-7:10;db0;gv100:1:0+0;l;.", 34},
        {"HM1:s1;n0:0-7:10;db0;gv100:1:0+0;l0;.", 35},
        {"HM1:s1;n0:00-7:10;.", 12},
        {"HM1:s1;n0:0-7:99999999999;.", 24},
    };
    for (const auto &bad : cases) {
      const CompactResult result = parse_compact(bad.text);
      CPPUNIT_ASSERT_MESSAGE(bad.text, !result.problem.empty());
      CPPUNIT_ASSERT_EQUAL_MESSAGE(std::string(bad.text) + ": " + result.problem, bad.position, result.position);
    }
  }

  void numbers_cannot_make_it_allocate() {
    CPPUNIT_ASSERT(!parse_compact("HM1:s1;n0:0-4294967295:4294967295;.").problem.empty());
    CPPUNIT_ASSERT(!parse_compact("HM1:s4294967295;.").problem.empty());
    const CompactResult many = parse_compact("HM1:s1;n0:0-7:1;db0;gv:1:0" + [] {
      std::string more;
      for (int i = 0; i < 1000; ++i) more += "+0";
      return more;
    }() + ";.");
    CPPUNIT_ASSERT(many.problem.find("more than 256") != std::string::npos);
    CPPUNIT_ASSERT(many.topology.gpus.size() <= max_gpus + 1);
  }

  void a_text_that_is_too_long_is_refused() {
    CPPUNIT_ASSERT(parse_compact(std::string(max_compact_size + 1, 'x')).problem == "longer than 65536 bytes");
  }

  void a_topology_has_one_text_only() {
    CPPUNIT_ASSERT(!parse_compact("HM1:s01;.").problem.empty());
    CPPUNIT_ASSERT(!parse_compact("HM1:s1;n0:0-3+4-7:10;.").problem.empty());
  }

  void other_words_of_the_extra_field_are_kept() {
    CPPUNIT_ASSERT_EQUAL(std::string("HM1:s1;."), with_topology_word("", "HM1:s1;."));
    CPPUNIT_ASSERT_EQUAL(std::string("rack=7 HM1:s1;."), with_topology_word("rack=7", "HM1:s1;."));
    CPPUNIT_ASSERT_EQUAL(std::string("rack=7  HM1:s1;. note"), with_topology_word("rack=7  HM1:s2;. note", "HM1:s1;."));
    CPPUNIT_ASSERT_EQUAL(std::string("HM1:s1;."), with_topology_word("HM99:future", "HM1:s1;."));
    CPPUNIT_ASSERT_EQUAL(std::string("xHM1:no HM1:s1;."), with_topology_word("xHM1:no", "HM1:s1;."));
    CPPUNIT_ASSERT(topology_word("rack=7 HMS: nothing HM: of ours").empty());
    CPPUNIT_ASSERT_EQUAL(std::string("HM1:broken"), std::string(topology_word("a HM1:broken\tb")));
  }
};

CPPUNIT_TEST_SUITE_REGISTRATION(CompactTest);

} // namespace harmony
