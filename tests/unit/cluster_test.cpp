#include "src/plan/cluster.h"

#include "src/discover/profiles.h"
#include "src/plan/fit.h"

#include <cppunit/extensions/HelperMacros.h>

#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

namespace harmony {

class ClusterTest : public CppUnit::TestFixture {
  CPPUNIT_TEST_SUITE(ClusterTest);
  CPPUNIT_TEST(it_begins_as_the_snapshot_and_leaves_that_alone);
  CPPUNIT_TEST(a_placement_takes_its_cores_gpus_and_memory);
  CPPUNIT_TEST(memory_is_taken_by_cpu_and_by_gpu_and_never_below_nothing);
  CPPUNIT_TEST(a_whole_node_is_closed_to_others);
  CPPUNIT_TEST(a_started_gang_is_a_neighbour_on_each_of_its_nodes);
  CPPUNIT_TEST(components_that_meet_on_a_node_are_one_neighbour);
  CPPUNIT_TEST(only_jobs_on_several_nodes_are_distributed);
  CPPUNIT_TEST(a_plan_for_something_that_is_not_there_is_refused);
  CPPUNIT_TEST(gangs_started_one_after_another_share_nothing);
  CPPUNIT_TEST_SUITE_END();

  static Bits all(int size) {
    Bits bits(size);
    bits.set_all();
    return bits;
  }

  // Three nodes of 32 cores and 8 GPUs; on the first two runs job 7, on the first job 8 too.
  static Snapshot snapshot() {
    Snapshot snapshot;
    snapshot.taken = 1000;
    for (int i = 0; i < 3; ++i) {
      NodeState node;
      node.name = "n" + std::to_string(i);
      node.usable = true;
      node.topology = std::make_shared<Topology>(*synthetic_topology("pcie8"));
      node.free_cores = all(32);
      node.free_gpus = all(8);
      node.memory_mb = node.free_memory_mb = 10000;
      snapshot.nodes.push_back(node);
    }
    Running job;
    job.job = 7;
    job.nodes = 2;
    snapshot.running.push_back(job);
    job.job = 8;
    job.nodes = 1;
    snapshot.running.push_back(job);
    snapshot.nodes[0].tenants = {{0, 1, 0, 1, Bits(8)}, {1, 1, 0, 1, Bits(8)}};
    snapshot.nodes[1].tenants = {{0, 1, 0, 1, Bits(8)}};
    return snapshot;
  }

  static Component component(int workers, int ps) {
    Component component;
    component.workers = workers;
    component.ps = ps;
    component.gpus.per_job = workers;
    component.eligible = all(3);
    return component;
  }

  static Gang gang(const std::vector<Component> &components) {
    Gang gang;
    gang.job = 100;
    gang.user = 5;
    gang.type = "vgg16";
    gang.model_kb = 528000;
    gang.time_limit_min = 10;
    gang.components = components;
    return gang;
  }

  static Placement placed(const Cluster &cluster, const Gang &gang, int component, int node, int workers, int ps) {
    const Component &demand = gang.components[static_cast<std::size_t>(component)];
    auto placement = arrange(cluster.node(node), node, demand, workers, ps, cluster.memory_counts());
    CPPUNIT_ASSERT(placement.has_value());
    placement->component = component;
    return *placement;
  }

  void it_begins_as_the_snapshot_and_leaves_that_alone() {
    const Snapshot before = snapshot();
    Cluster cluster(before);
    CPPUNIT_ASSERT_EQUAL(std::time_t{1000}, cluster.now());
    CPPUNIT_ASSERT(cluster.memory_counts());
    CPPUNIT_ASSERT_EQUAL(3, cluster.size());
    CPPUNIT_ASSERT_EQUAL(7u, cluster.job_of(cluster.node(0).tenants[0]).job);
    CPPUNIT_ASSERT_EQUAL(8u, cluster.job_of(cluster.node(0).tenants[1]).job);
    const Gang one = gang({component(2, 1)});
    cluster.start(one, {{placed(cluster, one, 0, 2, 2, 1)}});
    CPPUNIT_ASSERT(before.nodes[2].free_gpus == all(8));
    CPPUNIT_ASSERT(before.nodes[2].tenants.empty());
  }

  void a_placement_takes_its_cores_gpus_and_memory() {
    const Snapshot before = snapshot();
    Cluster cluster(before);
    Gang one = gang({component(2, 1)});
    one.components[0].memory_per_node_mb = 3000;
    const Placement placement = placed(cluster, one, 0, 2, 2, 1);
    cluster.take(one.components[0], placement);
    const NodeState &node = cluster.node(2);
    CPPUNIT_ASSERT_EQUAL(29, node.free_cores.count());
    CPPUNIT_ASSERT(!node.free_cores.overlaps(placement.cores));
    CPPUNIT_ASSERT_EQUAL(6, node.free_gpus.count());
    CPPUNIT_ASSERT(!node.free_gpus.overlaps(placement.gpus));
    CPPUNIT_ASSERT_EQUAL(std::uint64_t{7000}, node.free_memory_mb);
    CPPUNIT_ASSERT(node.tenants.empty());
    CPPUNIT_ASSERT(!node.whole_taken);
    CPPUNIT_ASSERT_EQUAL(32, cluster.node(1).free_cores.count());
  }

  static std::uint64_t memory_left(const Snapshot &before, const Component &component) {
    Cluster cluster(before);
    const auto placement = arrange(cluster.node(2), 2, component, component.workers, component.ps, false);
    cluster.take(component, *placement);
    return cluster.node(2).free_memory_mb;
  }

  void memory_is_taken_by_cpu_and_by_gpu_and_never_below_nothing() {
    Snapshot before = snapshot();
    before.nodes[2].threads_per_core = 2;
    Component demand = component(2, 1);
    demand.memory_per_gpu_mb = 1000;
    CPPUNIT_ASSERT_EQUAL(std::uint64_t{8000}, memory_left(before, demand));
    demand.memory_per_gpu_mb = 0;
    demand.cpus_per_task = 3; // two cores a task, four CPUs
    demand.memory_per_cpu_mb = 100;
    CPPUNIT_ASSERT_EQUAL(std::uint64_t{8800}, memory_left(before, demand));
    demand.memory_per_cpu_mb = ~std::uint64_t{0} / 3;
    CPPUNIT_ASSERT_EQUAL(std::uint64_t{0}, memory_left(before, demand));
    before.memory_counts = false;
    CPPUNIT_ASSERT_EQUAL(std::uint64_t{10000}, memory_left(before, demand));
  }

  void a_whole_node_is_closed_to_others() {
    const Snapshot before = snapshot();
    Cluster cluster(before);
    Gang one = gang({component(1, 0)});
    one.components[0].whole_nodes = true;
    cluster.start(one, {{placed(cluster, one, 0, 2, 1, 0)}});
    CPPUNIT_ASSERT(cluster.node(2).whole_taken);
    CPPUNIT_ASSERT(!fits(cluster.node(2), component(1, 0), 1, 0, true));
    CPPUNIT_ASSERT_EQUAL(std::string("taken whole by another job"),
                         what_masks(cluster.node(2), 2, component(1, 0), true));
  }

  void a_started_gang_is_a_neighbour_on_each_of_its_nodes() {
    const Snapshot before = snapshot();
    Cluster cluster(before);
    const Gang one = gang({component(3, 1)});
    cluster.start(one, {{placed(cluster, one, 0, 1, 1, 1), placed(cluster, one, 0, 2, 2, 0)}});
    const Tenant &first = cluster.node(1).tenants.back(), &second = cluster.node(2).tenants.back();
    CPPUNIT_ASSERT_EQUAL(1, first.workers);
    CPPUNIT_ASSERT_EQUAL(1, first.ps);
    CPPUNIT_ASSERT_EQUAL(2, first.cores);
    CPPUNIT_ASSERT_EQUAL(2, second.workers);
    CPPUNIT_ASSERT_EQUAL(2, second.gpus.count());
    CPPUNIT_ASSERT_EQUAL(-1, second.running);
    const Running &job = cluster.job_of(first);
    CPPUNIT_ASSERT_EQUAL(100u, job.job);
    CPPUNIT_ASSERT_EQUAL(5u, job.user);
    CPPUNIT_ASSERT_EQUAL(std::string("vgg16"), job.type);
    CPPUNIT_ASSERT(job.managed);
    CPPUNIT_ASSERT_EQUAL(2, job.nodes);
    CPPUNIT_ASSERT_EQUAL(3, job.workers);
    CPPUNIT_ASSERT_EQUAL(1, job.ps);
    CPPUNIT_ASSERT_EQUAL(528000u, job.model_kb);
    CPPUNIT_ASSERT_EQUAL(std::time_t{1000}, job.started);
    CPPUNIT_ASSERT_EQUAL(std::time_t{1600}, job.ends);
  }

  void components_that_meet_on_a_node_are_one_neighbour() {
    const Snapshot before = snapshot();
    Cluster cluster(before), trial(before);
    const Gang one = gang({component(2, 0), component(0, 3)});
    Plan plan{{placed(trial, one, 0, 2, 2, 0)}};
    trial.take(one.components[0], plan.placements[0]);
    plan.placements.push_back(placed(trial, one, 1, 2, 0, 3));
    CPPUNIT_ASSERT(!plan.placements[0].cores.overlaps(plan.placements[1].cores));
    cluster.start(one, plan);
    CPPUNIT_ASSERT_EQUAL(std::size_t{1}, cluster.node(2).tenants.size());
    const Tenant &tenant = cluster.node(2).tenants[0];
    CPPUNIT_ASSERT_EQUAL(2, tenant.workers);
    CPPUNIT_ASSERT_EQUAL(3, tenant.ps);
    CPPUNIT_ASSERT_EQUAL(5, tenant.cores);
    CPPUNIT_ASSERT(tenant.gpus == plan.placements[0].gpus);
    CPPUNIT_ASSERT_EQUAL(1, cluster.job_of(tenant).nodes);
    CPPUNIT_ASSERT_EQUAL(27, cluster.node(2).free_cores.count());
  }

  void only_jobs_on_several_nodes_are_distributed() {
    const Snapshot before = snapshot();
    Cluster cluster(before);
    CPPUNIT_ASSERT_EQUAL(1, cluster.distributed_on(0));
    CPPUNIT_ASSERT_EQUAL(1, cluster.distributed_on(1));
    CPPUNIT_ASSERT_EQUAL(0, cluster.distributed_on(2));
    const Gang one = gang({component(2, 0)});
    cluster.start(one, {{placed(cluster, one, 0, 2, 2, 0)}});
    CPPUNIT_ASSERT_EQUAL(0, cluster.distributed_on(2));
    cluster.start(one, {{placed(cluster, one, 0, 1, 1, 0), placed(cluster, one, 0, 2, 1, 0)}});
    CPPUNIT_ASSERT_EQUAL(2, cluster.distributed_on(1));
    CPPUNIT_ASSERT_EQUAL(1, cluster.distributed_on(2));
  }

  void a_plan_for_something_that_is_not_there_is_refused() {
    const Snapshot before = snapshot();
    Cluster cluster(before);
    const Gang one = gang({component(1, 0)});
    Placement placement = placed(cluster, one, 0, 2, 1, 0);
    placement.component = 1;
    CPPUNIT_ASSERT_THROW(cluster.start(one, {{placement}}), std::out_of_range);
    placement.component = 0;
    placement.node = 3;
    CPPUNIT_ASSERT_THROW(cluster.take(one.components[0], placement), std::out_of_range);
    CPPUNIT_ASSERT_THROW(cluster.job_of({5, 0, 0, 0, {}}), std::out_of_range);
    CPPUNIT_ASSERT_THROW(cluster.job_of({-1, 0, 0, 0, {}}), std::out_of_range);
  }

  void gangs_started_one_after_another_share_nothing() {
    std::mt19937 random(1);
    for (int round = 0; round < 50; ++round) {
      const Snapshot before = snapshot();
      Cluster cluster(before);
      Bits cores(32), gpus(8);
      int taken_cores = 0, taken_gpus = 0, started = 0;
      for (int i = 0; i < 12; ++i) {
        Gang one = gang({component(static_cast<int>(random() % 3), static_cast<int>(random() % 2))});
        one.components[0].cpus_per_task = 1 + static_cast<int>(random() % 4);
        const auto placement = arrange(cluster.node(2), 2, one.components[0], one.workers(), one.ps(), true);
        if (!placement) continue;
        CPPUNIT_ASSERT(!cores.overlaps(placement->cores) && !gpus.overlaps(placement->gpus));
        cores |= placement->cores;
        gpus |= placement->gpus;
        cluster.start(one, {{*placement}});
        ++started;
        CPPUNIT_ASSERT_EQUAL(-started, cluster.node(2).tenants.back().running);
        taken_cores += cluster.node(2).tenants.back().cores;
        taken_gpus += cluster.node(2).tenants.back().gpus.count();
      }
      CPPUNIT_ASSERT_EQUAL(32 - taken_cores, cluster.node(2).free_cores.count());
      CPPUNIT_ASSERT_EQUAL(8 - taken_gpus, cluster.node(2).free_gpus.count());
      CPPUNIT_ASSERT(started > 2);
    }
  }
};

CPPUNIT_TEST_SUITE_REGISTRATION(ClusterTest);

} // namespace harmony
