#include "src/sim/input/sim_cluster.h"

#include "src/discover/profiles.h"
#include "src/publish/compact.h"
#include "tests/unit/sim_files.h"

namespace harmony {

using namespace fixtures;

class SimClusterTest : public CppUnit::TestFixture {
  CPPUNIT_TEST_SUITE(SimClusterTest);
  CPPUNIT_TEST(a_group_of_a_profile_is_free_nodes_that_share_a_topology);
  CPPUNIT_TEST(a_group_may_be_given_in_compact_form);
  CPPUNIT_TEST(a_group_may_be_given_as_an_hwloc_export);
  CPPUNIT_TEST(gpus_and_network_cards_may_be_others_than_the_topologys);
  CPPUNIT_TEST(a_lost_gpu_is_not_free);
  CPPUNIT_TEST(a_bad_group_is_refused_by_its_name_and_changes_nothing);
  CPPUNIT_TEST(a_file_has_groups);
  CPPUNIT_TEST(what_a_file_leaves_out_has_its_default);
  CPPUNIT_TEST(an_export_is_found_beside_the_file);
  CPPUNIT_TEST(a_bad_file_is_refused_with_its_name_and_the_group);
  CPPUNIT_TEST(a_file_of_the_largest_cluster_is_read);
  CPPUNIT_TEST_SUITE_END();

  Files files_;

  static SimCluster of(const NodeGroup &group) {
    SimCluster cluster;
    add_group(cluster, group);
    return cluster;
  }
  static NodeGroup group(const std::string &name, int count, const std::string &topology) {
    NodeGroup made;
    made.name = name;
    made.count = count;
    made.topology = topology;
    return made;
  }
  static std::string refused(const NodeGroup &bad) {
    return thrown([&] { of(bad); });
  }
  SimCluster read(const std::string &json) const { return read_cluster(files_.write("c.json", json)); }
  std::string refused(const std::string &json) const {
    return thrown([&] { read(json); }, files_.path());
  }
  static std::string export_of_pcie8() {
    const char *top = std::getenv("srcdir");
    return std::string(top ? top : ".") + "/tests/topologies/pcie8.xml";
  }

  void a_group_of_a_profile_is_free_nodes_that_share_a_topology() {
    NodeGroup three = group("gpu", 3, "pcie8");
    three.rack = "r7";
    const SimCluster cluster = of(three);
    CPPUNIT_ASSERT_EQUAL(std::size_t{3}, cluster.nodes.size());
    CPPUNIT_ASSERT_EQUAL(std::size_t{3}, cluster.racks.size());
    CPPUNIT_ASSERT_EQUAL(24, cluster.gpus());
    CPPUNIT_ASSERT_EQUAL(std::string("gpu2"), cluster.nodes[2].name);
    CPPUNIT_ASSERT_EQUAL(std::string("r7"), cluster.racks[2]);
    for (const NodeState &node : cluster.nodes) {
      CPPUNIT_ASSERT(node.usable && !node.whole_taken && node.tenants.empty());
      CPPUNIT_ASSERT(node.topology == cluster.nodes[0].topology);
      CPPUNIT_ASSERT_EQUAL(32, node.free_cores.count());
      CPPUNIT_ASSERT_EQUAL(8, node.free_gpus.count());
      CPPUNIT_ASSERT_EQUAL(std::uint64_t{256000}, node.free_memory_mb);
      CPPUNIT_ASSERT_EQUAL(std::string("rtx6000"), node.gpu_models.at(7));
    }
  }

  void a_group_may_be_given_in_compact_form() {
    const Topology dgx1 = synthetic_topology("dgx1").value();
    const SimCluster cluster = of(group("d", 1, compact_form(dgx1)));
    CPPUNIT_ASSERT(same_for_placement(dgx1, *cluster.nodes[0].topology));
  }

  void a_group_may_be_given_as_an_hwloc_export() {
    const SimCluster cluster = of(group("x", 2, export_of_pcie8()));
    CPPUNIT_ASSERT_EQUAL(16, cluster.gpus());
    CPPUNIT_ASSERT_EQUAL(32, cluster.nodes[1].free_cores.count());
  }

  void gpus_and_network_cards_may_be_others_than_the_topologys() {
    NodeGroup other = group("p", 1, "pcie8");
    other.gpu = "v100";
    other.nic_mbps = 25000;
    const SimCluster cluster = of(other);
    const Topology &topology = *cluster.nodes[0].topology;
    for (const Gpu &gpu : topology.gpus) CPPUNIT_ASSERT_EQUAL(std::string("v100"), gpu.model);
    for (const Nic &nic : topology.nics) CPPUNIT_ASSERT_EQUAL(25000u, nic.speed_mbps);
    CPPUNIT_ASSERT_EQUAL(std::string("v100"), cluster.nodes[0].gpu_models.at(0));
  }

  void a_lost_gpu_is_not_free() {
    Topology topology = synthetic_topology("servers6").value();
    topology.gpus[1].lost = true;
    const SimCluster cluster = of(group("s", 1, compact_form(topology)));
    CPPUNIT_ASSERT_EQUAL(1, cluster.gpus());
    CPPUNIT_ASSERT(!cluster.nodes[0].free_gpus.test(1));
  }

  void a_bad_group_is_refused_by_its_name_and_changes_nothing() {
    CPPUNIT_ASSERT_EQUAL(std::string("group \"\": the name has to be 1 to 63 of letters, digits, '-', '_' and '.', the "
                                     "first a letter or a digit"),
                         refused(group("", 1, "pcie8")));
    CPPUNIT_ASSERT(!refused(group("a b", 1, "pcie8")).empty());
    CPPUNIT_ASSERT(!refused(group("-a", 1, "pcie8")).empty());
    CPPUNIT_ASSERT_EQUAL(std::string("group \"a\": count is 0, not from 1 to 100000"), refused(group("a", 0, "pcie8")));
    CPPUNIT_ASSERT_EQUAL(std::string("group \"a\": count is 100001, not from 1 to 100000"),
                         refused(group("a", 100001, "pcie8")));
    CPPUNIT_ASSERT_EQUAL(std::string("group \"a\": topology \"dgx9\" is no profile (dgx1, dgx2, epyc4, gh200, nogpu, "
                                     "pcie8, quad4, servers6, workstation2), no compact form, and no file"),
                         refused(group("a", 1, "dgx9")));
    CPPUNIT_ASSERT(refused(group("a", 1, "HM1:s2;zzz"))
                       .find("group \"a\": the compact form of its topology is wrong at character 8: ") == 0);
    CPPUNIT_ASSERT(refused(group("a", 1, files_.write("bad.xml", "<topology>"))).find("group \"a\": ") == 0);
    NodeGroup bad = group("a", 1, "pcie8");
    bad.gpu = "V 100";
    CPPUNIT_ASSERT(refused(bad).find("group \"a\": gpu is \"V 100\", not a model") == 0);
    bad = group("a", 1, "nogpu");
    bad.gpu = "v100";
    CPPUNIT_ASSERT_EQUAL(std::string("group \"a\": gpu is given, but its topology has no GPU"), refused(bad));
    bad = group("a", 1, "HM1:s1;n0:0-7:1000;.");
    bad.nic_mbps = 1000;
    CPPUNIT_ASSERT_EQUAL(std::string("group \"a\": nic_mbps is given, but its topology has no network card"),
                         refused(bad));
    bad.nic_mbps = -1;
    CPPUNIT_ASSERT_EQUAL(std::string("group \"a\": nic_mbps is -1, not from 0 to 10000000"), refused(bad));
    bad = group("a", 1, "pcie8");
    bad.rack = "r\n1";
    CPPUNIT_ASSERT_EQUAL(std::string("group \"a\": the rack has to be at most 64 printable characters"), refused(bad));

    SimCluster cluster = of(group("a", 12, "servers6"));
    CPPUNIT_ASSERT_EQUAL(std::string("group \"a1\": another group has a node a10 already"),
                         thrown([&] { add_group(cluster, group("a1", 2, "servers6")); }));
    CPPUNIT_ASSERT_EQUAL(std::string("group \"b\": with its 99999 nodes the cluster has more than 100000"),
                         thrown([&] { add_group(cluster, group("b", 99999, "servers6")); }));
    CPPUNIT_ASSERT_EQUAL(std::size_t{12}, cluster.nodes.size());
    CPPUNIT_ASSERT_EQUAL(std::size_t{12}, cluster.racks.size());
  }

  void a_file_has_groups() {
    const SimCluster cluster = read(R"({"name": "ours", "groups": [
      {"name": "a", "count": 2, "topology": "dgx1", "gpu": "a100", "nic_mbps": 25000, "rack": "r1"},
      {"name": "b", "count": 3, "topology": "servers6", "rack": "r2"}]})");
    CPPUNIT_ASSERT_EQUAL(std::string("ours"), cluster.name);
    CPPUNIT_ASSERT_EQUAL(22, cluster.gpus());
    CPPUNIT_ASSERT_EQUAL(std::string("a1"), cluster.nodes[1].name);
    CPPUNIT_ASSERT_EQUAL(std::string("a100"), cluster.nodes[1].gpu_models.at(0));
    CPPUNIT_ASSERT_EQUAL(std::string("b2"), cluster.nodes[4].name);
    CPPUNIT_ASSERT_EQUAL(std::string("r2"), cluster.racks[4]);
  }

  void what_a_file_leaves_out_has_its_default() {
    const SimCluster cluster = read(R"({"groups": [{}]})");
    CPPUNIT_ASSERT_EQUAL(std::string("c"), cluster.name);
    CPPUNIT_ASSERT_EQUAL(std::string("n0"), cluster.nodes.at(0).name);
    CPPUNIT_ASSERT_EQUAL(8, cluster.gpus());
  }

  void an_export_is_found_beside_the_file() {
    std::filesystem::copy_file(export_of_pcie8(), files_.path() + "/node.xml");
    CPPUNIT_ASSERT_EQUAL(8, read(R"({"groups": [{"topology": "node.xml"}]})").gpus());
    CPPUNIT_ASSERT_EQUAL(
        8, read("{\"groups\": [{\"topology\": \"" + std::filesystem::absolute(export_of_pcie8()).string() + "\"}]}")
               .gpus());
  }

  void a_bad_file_is_refused_with_its_name_and_the_group() {
    CPPUNIT_ASSERT_EQUAL(std::string("/no/such: cannot be opened"), thrown([] { read_cluster("/no/such"); }));
    for (const char *text : {"", "x", "{", "[", "{\"groups\": [}", "{\"groups\": [{}], \"groups\": [{}]}"})
      CPPUNIT_ASSERT_EQUAL(std::string("c.json: is not JSON: "), refused(text).substr(0, 21));
    CPPUNIT_ASSERT_EQUAL(std::string("c.json: is not JSON: "), refused(std::string(100000, '[')).substr(0, 21));
    CPPUNIT_ASSERT_EQUAL(std::string("c.json: is no JSON object"), refused("[]"));
    for (const char *text : {"{}", R"({"groups": {}})", R"({"groups": []})", R"({"groups": "a"})"})
      CPPUNIT_ASSERT_EQUAL(std::string("c.json: groups is not a list of at least one group"), refused(text));
    CPPUNIT_ASSERT_EQUAL(std::string("c.json: unknown key \"nodes\"; the keys are name, groups"),
                         refused(R"({"groups": [{}], "nodes": 1})"));
    CPPUNIT_ASSERT_EQUAL(std::string("c.json: name is not a string"), refused(R"({"groups": [{}], "name": 1})"));
    CPPUNIT_ASSERT_EQUAL(std::string("c.json: group 2: is not an object"), refused(R"({"groups": [{}, 7]})"));
    CPPUNIT_ASSERT_EQUAL(
        std::string("c.json: group 1 (\"a\"): unknown key \"cuont\"; the keys are name, count, topology, "
                    "gpu, nic_mbps, rack"),
        refused(R"({"groups": [{"name": "a", "cuont": 3}]})"));
    for (const char *count : {"0", "-1", "1.5", "\"3\"", "100001", "1e40", "null", "[]"})
      CPPUNIT_ASSERT_EQUAL(std::string("c.json: group 1 (\"a\"): count is not a whole number from 1 to 100000"),
                           refused(std::string("{\"groups\": [{\"name\": \"a\", \"count\": ") + count + "}]}"));
    CPPUNIT_ASSERT_EQUAL(std::string("c.json: group 1: topology is not a string"),
                         refused(R"({"groups": [{"topology": 3}]})"));
    CPPUNIT_ASSERT_EQUAL(std::string("c.json: group 1: topology has a NUL character"),
                         refused(R"({"groups": [{"topology": "a\u0000b"}]})"));
    CPPUNIT_ASSERT_EQUAL(std::string("c.json: group \"n\": another group has a node n0 already"),
                         refused(R"({"groups": [{}, {}]})"));
    CPPUNIT_ASSERT(refused(R"({"groups": [{"name": "a", "topology": "missing.xml"}]})").find("c.json: group \"a\": ") ==
                   0);
  }

  void a_file_of_the_largest_cluster_is_read() {
    CPPUNIT_ASSERT_EQUAL(200000, read(R"({"groups": [{"count": 100000, "topology": "servers6"}]})").gpus());
  }
};

CPPUNIT_TEST_SUITE_REGISTRATION(SimClusterTest);

} // namespace harmony
