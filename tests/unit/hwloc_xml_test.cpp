// Exports that are not as hwloc writes them: refused with one clear line, or read in spite of what is odd about them.

#include "src/discover/hwloc_reader.h"

#include "tests/unit/topology_tables.h"

#include <cppunit/extensions/HelperMacros.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <random>

namespace harmony {

class HwlocXmlTest : public CppUnit::TestFixture {
  CPPUNIT_TEST_SUITE(HwlocXmlTest);
  CPPUNIT_TEST(a_missing_file_is_named);
  CPPUNIT_TEST(what_is_no_regular_file_is_refused_at_once);
  CPPUNIT_TEST(a_huge_file_is_refused_without_reading_it);
  CPPUNIT_TEST(what_is_not_xml_is_refused);
  CPPUNIT_TEST(xml_of_something_else_is_refused);
  CPPUNIT_TEST(a_truncated_export_is_called_so);
  CPPUNIT_TEST(other_formats_than_2_and_3_are_refused_by_number);
  CPPUNIT_TEST(entities_are_not_expanded);
  CPPUNIT_TEST(sets_that_contradict_each_other_are_refused);
  CPPUNIT_TEST(objects_in_the_wrong_place_are_refused);
  CPPUNIT_TEST(numbers_in_it_drive_no_allocation);
  CPPUNIT_TEST(a_file_made_to_keep_hwloc_busy_is_refused);
  CPPUNIT_TEST(more_gpus_than_a_topology_may_have_are_refused);
  CPPUNIT_TEST(an_nvlink_matrix_of_another_size_is_refused);
  CPPUNIT_TEST(damaged_exports_never_crash_the_reader);
  CPPUNIT_TEST(gpus_are_told_by_vendor_and_class);
  CPPUNIT_TEST(a_gpu_without_a_driver_is_named_by_the_pci_database_or_its_ids);
  CPPUNIT_TEST(functions_of_one_card_make_no_switch);
  CPPUNIT_TEST(the_name_spaces_of_an_nvme_drive_are_one_disk);
  CPPUNIT_TEST(devices_of_an_export_without_bridges_share_one_domain);
  CPPUNIT_TEST(attributes_and_elements_that_we_do_not_know_do_no_harm);
  CPPUNIT_TEST(a_cpu_is_a_core_where_there_are_no_cores);
  CPPUNIT_TEST_SUITE_END();

  static std::string cpu(const char *type, int number, const std::string &inside = "") {
    return fmt::format("<object type=\"{}\" os_index=\"{}\" cpuset=\"0x{:x}\" nodeset=\"0x1\">{}</object>", type,
                       number, 1 << number, inside);
  }

  static std::string two_cores() { return cpu("Core", 0, cpu("PU", 0)) + cpu("Core", 1, cpu("PU", 1)); }

  // A machine of one NUMA node and two CPUs.
  static std::string with(const std::string &objects, const std::string &after = "", const char *version = "2.0") {
    const std::string sets = "cpuset=\"0x3\" nodeset=\"0x1\"";
    return fmt::format(
        "<?xml version=\"1.0\"?>\n<topology version=\"{}\"><object type=\"Machine\" {}>"
        "<object type=\"NUMANode\" os_index=\"0\" local_memory=\"1073741824\" {}/>{}</object>{}</topology>\n",
        version, sets, sets, objects, after);
  }

  static std::string bridge(const std::string &inside) {
    return "<object type=\"Bridge\" bridge_type=\"0-1\" bridge_pci=\"0000:[00-ff]\">" + inside + "</object>";
  }

  static std::string pci(const char *bus_id, const char *type, const std::string &inside = "") {
    return fmt::format("<object type=\"PCIDev\" pci_busid=\"{}\" pci_type=\"{} [0000:0000] 00\">{}</object>", bus_id,
                       type, inside);
  }

  static std::string osdev(const char *name, int type) {
    return fmt::format("<object type=\"OSDev\" name=\"{}\" osdev_type=\"{}\"/>", name, type);
  }

  static Topology read(const std::string &text) {
    const TemporaryFile file(text);
    const HwlocResult result = read_xml_file(file.path);
    CPPUNIT_ASSERT_EQUAL(std::string(), result.problem);
    return result.topology;
  }

  static void assert_problem(const std::string &path, const std::string &expected) {
    CPPUNIT_ASSERT_EQUAL(path + ": " + expected, read_xml_file(path).problem);
  }

  static void assert_refused(const std::string &text, const std::string &expected) {
    const TemporaryFile file(text);
    assert_problem(file.path, expected);
  }

  static std::string fixture(const char *name) {
    std::stringstream text;
    text << std::ifstream(topologies_folder() + "/" + name + ".xml").rdbuf();
    CPPUNIT_ASSERT(text.str().size() > 1000);
    return text.str();
  }

  static std::string replaced(std::string text, const std::string &from, const std::string &to) {
    const std::size_t at = text.find(from);
    CPPUNIT_ASSERT(at != std::string::npos);
    return text.replace(at, from.size(), to);
  }

  void a_missing_file_is_named() { assert_problem("/tmp/no/such.xml", "No such file or directory"); }

  void what_is_no_regular_file_is_refused_at_once() {
    assert_problem("/tmp", "not a regular file");
    assert_problem("/dev/zero", "not a regular file");
    const TemporaryFile fifo("");
    unlink(fifo.path.c_str());
    CPPUNIT_ASSERT_EQUAL(0, mkfifo(fifo.path.c_str(), 0600));
    assert_problem(fifo.path, "not a regular file");
  }

  void a_huge_file_is_refused_without_reading_it() {
    const TemporaryFile sparse(with(two_cores()));
    CPPUNIT_ASSERT_EQUAL(0, truncate(sparse.path.c_str(), off_t(1) << 40));
    assert_problem(sparse.path, "larger than 64 MB");
  }

  void what_is_not_xml_is_refused() {
    assert_refused("", "the file is empty");
    assert_refused("GPU0 X NV1\n", "not XML: it does not begin with '<'");
    assert_refused(std::string(100, '\0'), "not XML: it does not begin with '<'");
  }

  void xml_of_something_else_is_refused() {
    assert_refused("<html></html>", "line 1: no hwloc topology: the document is a <html>");
    assert_refused("<topology version=\"2.0\"></topology>", "no topology in it");
  }

  void a_truncated_export_is_called_so() {
    const std::string whole = fixture("pcie8");
    const TemporaryFile file(whole.substr(0, whole.size() / 2));
    const std::string problem = read_xml_file(file.path).problem;
    CPPUNIT_ASSERT_EQUAL_MESSAGE(problem, std::size_t(0),
                                 problem.find(file.path + ": truncated: it does not end with </topology> (line "));
    CPPUNIT_ASSERT(problem.find('\n') == std::string::npos);
  }

  void other_formats_than_2_and_3_are_refused_by_number() {
    const std::string what = "formats 2 and 3 can be read";
    assert_refused(with(two_cores(), "", "9.0"), "line 2: hwloc XML format 9.0, " + what);
    assert_refused(with(two_cores(), "", "1.0"), "line 2: hwloc XML format 1.0, " + what);
    assert_refused("<topology><object type=\"Machine\"/></topology>",
                   "line 1: hwloc XML without a version (of hwloc 1?), " + what);
    read(with(two_cores(), "", "2.1"));
    read(with(two_cores(), "", "3.1"));
  }

  void entities_are_not_expanded() {
    assert_refused("<!DOCTYPE topology [<!ENTITY a \"aaaa\"><!ENTITY b \"&a;&a;\">]>\n" + with(two_cores()),
                   "declares XML entities");
  }

  void sets_that_contradict_each_other_are_refused() {
    assert_refused(with(cpu("PU", 0) + cpu("PU", 0)),
                   "line 2: a PU whose CPUs are its neighbour's too, or out of order");
    assert_refused(with(cpu("Core", 0, cpu("PU", 1))),
                   "line 2: a PU with CPUs or NUMA nodes that the Core around it does not have");
    assert_refused(replaced(with(two_cores()), "os_index=\"1\" cpuset=\"0x2\" nodeset=\"0x1\"></object>",
                            "os_index=\"7\" cpuset=\"0x2\" nodeset=\"0x1\"></object>"),
                   "line 2: PU 7 whose set is another's");
    assert_refused(replaced(with(two_cores()), "cpuset=\"0x3\"", "cpuset=\"0xf...f\""),
                   "line 2: a Machine without a sound cpuset and nodeset");
    assert_refused(replaced(with(two_cores()), "cpuset=\"0x3\"", "cpuset=\",x3\""),
                   "line 2: a Machine without a sound cpuset and nodeset");
    assert_refused(with(""), "a topology without CPUs");
  }

  void objects_in_the_wrong_place_are_refused() {
    assert_refused(with(cpu("PU", 0, cpu("Core", 0))), "line 2: Core inside PU");
    assert_refused(with(two_cores() + pci("0000:01:00.0", "0302 [10de:1db5]", bridge(""))),
                   "line 2: Bridge inside PCIDev");
    assert_refused(with(two_cores() + "<object type=\"Turnip\"/>"), "line 2: unknown object type \"Turnip\"");
    assert_refused(with(two_cores() + pci("first slot", "0302 [10de:1db5]")),
                   "line 2: a PCIDev without a sound pci_busid and pci_type");
    std::string deep;
    for (int i = 0; i < 200; ++i) deep += "<object type=\"Group\" cpuset=\"0x3\" nodeset=\"0x1\">";
    assert_refused(with(deep), "101 elements within each other");
  }

  void numbers_in_it_drive_no_allocation() {
    std::string far = "cpuset=\"0x1";
    for (int i = 0; i < 5000; ++i) far += ",";
    assert_refused(replaced(with(two_cores()), "cpuset=\"0x3", far),
                   "line 2: a Machine without a sound cpuset and nodeset");
    assert_refused(
        with(two_cores(), "<distances2 nbobjs=\"4000000000\" name=\"NVLinkBandwidth\" type=\"OSDev\"></distances2>"),
        "line 2: NVLinkBandwidth without a sound nbobjs");
  }

  void a_file_made_to_keep_hwloc_busy_is_refused() {
    std::string many;
    for (int i = 0; i < 5000; ++i) many += pci("0000:01:00.0", "0302 [10de:1db5]");
    assert_refused(with(two_cores() + bridge(many)), "line 2: more than 4096 objects in one");
  }

  void more_gpus_than_a_topology_may_have_are_refused() {
    std::string gpus;
    for (int i = 0; i < 300; ++i)
      gpus += pci(fmt::format("0000:{:02x}:{:02x}.0", i / 32, i % 32).c_str(), "0302 [10de:1db5]");
    assert_refused(with(two_cores() + bridge(gpus)), "makes no sense: 300 GPUs, at most 256 are allowed");
  }

  void an_nvlink_matrix_of_another_size_is_refused() {
    const TemporaryFile file(replaced(fixture("dgx1"), "nbobjs=\"8\"", "nbobjs=\"7\""));
    const std::string problem = read_xml_file(file.path).problem;
    const std::string what = ": NVLinkBandwidth of 7 objects with 8 indexes and 50 values";
    CPPUNIT_ASSERT_MESSAGE(problem, problem.find(what) != std::string::npos);
  }

  // The long run of this is by hand, under the sanitizers.
  void damaged_exports_never_crash_the_reader() {
    std::mt19937 random(1);
    int read_anyway = 0;
    for (const char *name : {"dgx1", "gh200", "pcie8-v3"}) {
      const std::string whole = fixture(name);
      for (int i = 0; i < 100; ++i) {
        std::string text = whole;
        for (int changes = 0; changes < 3; ++changes)
          text[random() % text.size()] = "0123456789abcdef,x<>\""[random() % 21];
        const TemporaryFile file(text);
        const HwlocResult result = read_xml_file(file.path);
        CPPUNIT_ASSERT(result.problem.find('\n') == std::string::npos);
        if (!result.problem.empty()) continue;
        ++read_anyway;
        gpu_matrix(result.topology);
        CPPUNIT_ASSERT_EQUAL(std::string(), problem_with(result.topology));
      }
    }
    CPPUNIT_ASSERT(read_anyway > 0 && read_anyway < 300);
  }

  void gpus_are_told_by_vendor_and_class() {
    const Topology topology =
        read(with(two_cores() + bridge(pci("0000:00:02.0", "0380 [8086:4c8a]") +   // in an Intel processor
                                       pci("0000:01:00.0", "0300 [1a03:2000]") +   // ASPEED
                                       pci("0000:02:00.0", "0300 [102b:0536]") +   // Matrox
                                       pci("0000:03:00.0", "0300 [1002:67df]") +   // an AMD graphics card
                                       pci("0000:04:00.0", "0380 [1002:740f]") +   // AMD Instinct MI210
                                       pci("0000:05:00.0", "1200 [1002:74a1]") +   // AMD Instinct MI300X
                                       pci("0000:06:00.0", "0380 [8086:0bd5]") +   // Intel Max 1550
                                       pci("0000:07:00.0", "0403 [10de:1aef]") +   // an NVIDIA card's sound
                                       pci("0000:08:00.0", "0302 [10de:20b0]")))); // NVIDIA A100
    std::string found;
    for (const Gpu &gpu : topology.gpus) found += gpu.bus_id.substr(5, 2) + " ";
    CPPUNIT_ASSERT_EQUAL(std::string("04 05 06 08 "), found);
  }

  void a_gpu_without_a_driver_is_named_by_the_pci_database_or_its_ids() {
    const std::string info = "<info name=\"PCIDevice\" value=\"GA100 [A100 SXM4 80GB]\"/>";
    const Topology topology = read(with(
        two_cores() + bridge(pci("0000:01:00.0", "0302 [10de:20b2]", info) + pci("0000:02:00.0", "0302 [10de:20b2]"))));
    CPPUNIT_ASSERT_EQUAL(std::string("a100_sxm4_80gb"), topology.gpus[0].model);
    CPPUNIT_ASSERT_EQUAL(std::string("10de-20b2"), topology.gpus[1].model);
  }

  void functions_of_one_card_make_no_switch() {
    const auto port = [](const std::string &inside) {
      return "<object type=\"Bridge\" bridge_type=\"1-1\" bridge_pci=\"0000:[01-01]\" pci_busid=\"0000:00:01.0\" "
             "pci_type=\"0604 [8086:2030] [0000:0000] 00\">" +
             inside + "</object>";
    };
    assert_table("0 host bridge, numa 0: eth0 eth1",
                 domain_table(read(
                     with(two_cores() + bridge(port(pci("0000:01:00.0", "0200 [8086:1528]", osdev("eth0", 2)) +
                                                    pci("0000:01:00.1", "0200 [8086:1528]", osdev("eth1", 2))))))));
  }

  void the_name_spaces_of_an_nvme_drive_are_one_disk() {
    const std::string disks = osdev("nvme0n1", 0) + osdev("nvme0n2", 0);
    assert_table("0 host bridge, numa 0: nvme0n1",
                 domain_table(read(with(two_cores() + bridge(pci("0000:01:00.0", "0108 [144d:a808]", disks))))));
  }

  void devices_of_an_export_without_bridges_share_one_domain() {
    assert_table("0 host bridge, numa 0: GPU0 GPU1",
                 domain_table(read(with(two_cores() + pci("0000:01:00.0", "0302 [10de:20b0]") +
                                        pci("0000:02:00.0", "0302 [10de:20b0]")))));
  }

  void attributes_and_elements_that_we_do_not_know_do_no_harm() {
    const std::string odd = with(replaced(two_cores(), "<object", "<object colour=\"green\""),
                                 "<info name=\"a\" value=\"b\"/><pci_locality/><distances2 name=\"NUMALatency\"/>");
    assert_table("numa 0: socket 0 1024 MB cores 0-1", numa_table(read(odd)));
  }

  void a_cpu_is_a_core_where_there_are_no_cores() {
    assert_table("numa 0: socket 0 1024 MB cores 0-1", numa_table(read(with(cpu("PU", 0) + cpu("PU", 1)))));
  }
};

CPPUNIT_TEST_SUITE_REGISTRATION(HwlocXmlTest);

} // namespace harmony
