#include "src/publish/topology_store.h"

#include "src/publish/compact.h"

#include <cppunit/extensions/HelperMacros.h>

namespace harmony {

class NodeTopologyTest : public CppUnit::TestFixture {
  CPPUNIT_TEST_SUITE(NodeTopologyTest);
  CPPUNIT_TEST(what_the_node_published_is_used);
  CPPUNIT_TEST(without_it_gres_conf_is_used);
  CPPUNIT_TEST(without_both_the_node_is_one_domain);
  CPPUNIT_TEST(a_refused_text_names_node_and_position_and_falls_back);
  CPPUNIT_TEST(a_topology_of_another_machine_is_refused);
  CPPUNIT_TEST(nonsense_from_gres_conf_stays_sound);
  CPPUNIT_TEST(a_topology_is_worked_out_once_per_change);
  CPPUNIT_TEST(the_store_counts_by_source);
  CPPUNIT_TEST_SUITE_END();

  // Two sockets of four cores, four GPUs, two on each.
  static NodeFacts facts() {
    NodeFacts node;
    node.name = "n7";
    node.sockets = 2;
    node.cores_per_socket = 4;
    node.memory_mb = 1000;
    for (int gpu = 0; gpu < 4; ++gpu) node.gpus.push_back({{gpu < 2 ? CoreRange{0, 3} : CoreRange{4, 7}}, "V100 32G"});
    node.links = {{-1, 2, 0, 0}, {2, -1, 0, 0}, {0, 0, -1, 1}, {0, 0, 1, -1}};
    return node;
  }

  static constexpr const char *published = "HM1:s1;n0:0-7:1000;db0/s0;gv100:1:1+1+1+1;.";

  void what_the_node_published_is_used() {
    NodeFacts node = facts();
    node.published = published;
    const NodeTopology result = topology_of(node);
    CPPUNIT_ASSERT(result.problem.empty());
    CPPUNIT_ASSERT(result.topology.source == TopologySource::published);
    CPPUNIT_ASSERT_EQUAL(std::string(published), compact_form(result.topology));
  }

  void without_it_gres_conf_is_used() {
    const NodeTopology result = topology_of(facts());
    CPPUNIT_ASSERT(result.topology.source == TopologySource::gres_conf);
    CPPUNIT_ASSERT_EQUAL(std::string("HM1:s2;n0:0-3:500/1:4-7:500;db0/b1;gv100_32g:0:0+0+1+1;l200001;."),
                         compact_form(result.topology));
    CPPUNIT_ASSERT_EQUAL(std::string(), problem_with(result.topology));
  }

  void without_both_the_node_is_one_domain() {
    NodeFacts node = facts();
    node.links.clear();
    for (GresGpu &gpu : node.gpus) gpu.cores.clear();
    const NodeTopology result = topology_of(node);
    CPPUNIT_ASSERT(result.topology.source == TopologySource::none);
    CPPUNIT_ASSERT_EQUAL(std::size_t{1}, result.topology.domains.size());
    CPPUNIT_ASSERT_EQUAL(std::size_t{4}, result.topology.gpus.size());
    CPPUNIT_ASSERT_EQUAL(std::size_t{3}, result.levels.size());
  }

  void a_refused_text_names_node_and_position_and_falls_back() {
    NodeFacts node = facts();
    node.published = "HM1:s1;n0;";
    const NodeTopology result = topology_of(node);
    CPPUNIT_ASSERT_EQUAL(std::string("node n7: the topology in its Extra field is refused at position 9: expected ':'"),
                         result.problem);
    CPPUNIT_ASSERT(result.topology.source == TopologySource::gres_conf);
  }

  void a_topology_of_another_machine_is_refused() {
    NodeFacts node = facts();
    node.published = "HM1:s1;n0:0-7:1000;db0;gv100:1:0+0;.";
    const NodeTopology result = topology_of(node);
    CPPUNIT_ASSERT(result.problem.find("it has 2 GPUs, Slurm has 4") != std::string::npos);
    CPPUNIT_ASSERT(result.topology.source == TopologySource::gres_conf);
  }

  void nonsense_from_gres_conf_stays_sound() {
    NodeFacts node = facts();
    node.sockets = 0;
    node.cores_per_socket = 0;
    node.gpus[0].cores = {{-5, 1000000}};
    node.gpus[1].type = std::string(500, '\xff');
    node.links = {{99999, 99999, 99999, 99999, 99999}, {}};
    CPPUNIT_ASSERT_EQUAL(std::string(), problem_with(topology_of(node).topology));
    node.gpus.resize(5000);
    CPPUNIT_ASSERT_EQUAL(std::string(), problem_with(topology_of(node).topology));
  }

  void a_topology_is_worked_out_once_per_change() {
    TopologyStore store;
    const NodeFacts node = facts();
    CPPUNIT_ASSERT(store.is_news("n7", "", 1));
    store.update(node, 1);
    CPPUNIT_ASSERT(!store.is_news("n7", "", 1));
    CPPUNIT_ASSERT(store.is_news("n7", "HM1:s1;.", 1));
    CPPUNIT_ASSERT(store.is_news("n7", "", 2));
    CPPUNIT_ASSERT(!store.find("n8"));
    CPPUNIT_ASSERT(store.find("n7"));
  }

  void the_store_counts_by_source() {
    TopologyStore store;
    NodeFacts node = facts();
    store.update(node, 1);
    node.name = "n8";
    node.published = published;
    store.update(node, 1);
    node.name = "n9";
    node.published = "HM1:";
    store.update(node, 1);
    const TopologyStore::Counts counts = store.counts();
    CPPUNIT_ASSERT_EQUAL(std::size_t{3}, counts.nodes);
    CPPUNIT_ASSERT_EQUAL(std::size_t{1}, counts.published);
    CPPUNIT_ASSERT_EQUAL(std::size_t{2}, counts.gres_conf);
    CPPUNIT_ASSERT_EQUAL(std::uint64_t{3}, counts.updates);
    CPPUNIT_ASSERT_EQUAL(std::uint64_t{1}, counts.refused);
    store.keep_only({"n8"});
    CPPUNIT_ASSERT_EQUAL(std::size_t{1}, store.counts().nodes);
    CPPUNIT_ASSERT(!store.find("n7"));
  }
};

CPPUNIT_TEST_SUITE_REGISTRATION(NodeTopologyTest);

} // namespace harmony
