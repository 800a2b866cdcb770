// How many tasks fit on a node, and what keeps them off it.
#include "tests/unit/fit_fixture.h"

namespace harmony {

class FitTest : public FitFixture {
  CPPUNIT_TEST_SUITE(FitTest);
  CPPUNIT_TEST(cores_are_counted_as_slurm_allocates_them);
  CPPUNIT_TEST(gpus_go_to_workers_to_every_task_or_to_the_node);
  CPPUNIT_TEST(memory_is_needed_by_node_by_cpu_or_by_gpu);
  CPPUNIT_TEST(the_most_tasks_fit_and_one_more_does_not);
  CPPUNIT_TEST(numbers_too_large_to_count_do_not_fit);
  CPPUNIT_TEST(each_mask_has_its_word_and_the_first_wins);
  CPPUNIT_TEST(a_whole_node_is_given_with_all_it_has_and_only_if_nobody_is_there);
  CPPUNIT_TEST_SUITE_END();

public:
  void cores_are_counted_as_slurm_allocates_them() {
    struct {
      int threads, cpus, tasks;
      bool one_task_a_core;
      int cores;
    } const rows[] = {{1, 1, 3, false, 3}, {1, 4, 3, false, 12}, {2, 1, 3, false, 2}, {2, 1, 4, false, 2},
                      {2, 1, 3, true, 3},  {2, 2, 3, false, 3},  {2, 3, 3, false, 6}, {4, 1, 5, false, 2},
                      {4, 3, 3, false, 3}, {4, 3, 4, false, 3},  {4, 3, 4, true, 4},  {0, 2, 2, false, 4}};
    for (const auto &row : rows) {
      NodeState node = node_of("nogpu");
      node.threads_per_core = row.threads;
      Component job = component(row.tasks - 1, 1, 0, row.cpus);
      job.one_task_a_core = row.one_task_a_core;
      CPPUNIT_ASSERT_EQUAL(row.cores, cores_needed(node, job, row.tasks - 1, 1));
      CPPUNIT_ASSERT_EQUAL(row.cores, arranged(node, job).cores.count());
      CPPUNIT_ASSERT_EQUAL(0, cores_needed(node, job, 0, 0));
    }
  }

  void gpus_go_to_workers_to_every_task_or_to_the_node() {
    Component job = component(4, 2, 2);
    CPPUNIT_ASSERT_EQUAL(6, gpus_needed(job, 3, 2));
    CPPUNIT_ASSERT_EQUAL(0, gpus_needed(job, 0, 2));
    CPPUNIT_ASSERT_EQUAL(2, gpus_per_worker(job));
    CPPUNIT_ASSERT_EQUAL(0, gpus_per_ps(job));
    job.gpus = {0, 3, 0, ""};
    CPPUNIT_ASSERT_EQUAL(15, gpus_needed(job, 3, 2));
    CPPUNIT_ASSERT_EQUAL(3, gpus_per_ps(job));
    job.gpus = {0, 0, 3, ""};
    CPPUNIT_ASSERT_EQUAL(3, gpus_needed(job, 3, 2));
    CPPUNIT_ASSERT_EQUAL(3, gpus_needed(job, 0, 1));
    CPPUNIT_ASSERT_EQUAL(0, gpus_needed(job, 0, 0));
    CPPUNIT_ASSERT_EQUAL(3, arranged(node_of("pcie8"), job).gpus.count());
    job.gpus = {4, 0, 0, ""};
    job.workers = 0;
    CPPUNIT_ASSERT_EQUAL(0, gpus_per_worker(job));
  }

  void memory_is_needed_by_node_by_cpu_or_by_gpu() {
    NodeState node = node_of("pcie8");
    node.threads_per_core = 2;
    const auto least_for = [&](const Component &job) {
      for (node.free_memory_mb = 0; !fits(node, job, 2, 1, true); ++node.free_memory_mb) {
      }
      CPPUNIT_ASSERT(fits(node, job, 2, 1, true));
      return static_cast<int>(node.free_memory_mb);
    };
    Component job = component(2, 1, 2, 3); // 2 cores, that is 4 CPUs, a task
    job.memory_per_node_mb = 100;
    CPPUNIT_ASSERT_EQUAL(100, least_for(job));
    job.memory_per_node_mb = 0;
    job.memory_per_cpu_mb = 10;
    CPPUNIT_ASSERT_EQUAL(120, least_for(job));
    job.memory_per_cpu_mb = 0;
    job.memory_per_gpu_mb = 10;
    CPPUNIT_ASSERT_EQUAL(40, least_for(job));
    node.free_memory_mb = 0;
    CPPUNIT_ASSERT(fits(node, job, 2, 1, false));
  }

  void the_most_tasks_fit_and_one_more_does_not() {
    for (int round = 0; round < 3000; ++round) {
      NodeState node = node_of(profiles[below(7)]);
      make_busy(node, 2 + below(6));
      node.threads_per_core = 1 + below(2);
      const Component job = random_component();
      const int most = most_workers(node, job, job.ps, true);
      CPPUNIT_ASSERT_EQUAL(most >= 0, fits(node, job, 0, job.ps, true));
      for (int workers = 0; workers <= job.workers; ++workers)
        CPPUNIT_ASSERT_EQUAL(workers <= most, fits(node, job, workers, job.ps, true));
      const int ps = most_ps(node, job, job.workers, true);
      CPPUNIT_ASSERT_EQUAL(ps >= 0, fits(node, job, job.workers, 0, true));
      for (int i = 0; i <= job.ps; ++i) CPPUNIT_ASSERT_EQUAL(i <= ps, fits(node, job, job.workers, i, true));
    }
  }

  void numbers_too_large_to_count_do_not_fit() {
    const NodeState node = node_of("pcie8");
    constexpr int huge = std::numeric_limits<int>::max();
    Component job = component(huge, huge, 0, huge);
    job.gpus.per_task = huge;
    job.one_task_a_core = true;
    CPPUNIT_ASSERT(!fits(node, job, huge, huge, true));
    CPPUNIT_ASSERT(!fits(node, job, -1, 2, true));
    CPPUNIT_ASSERT_EQUAL(0, most_workers(node, job, 0, true));
    CPPUNIT_ASSERT(!arrange(node, 0, job, huge, huge, true));
    job = component(1, 0, 0);
    job.memory_per_cpu_mb = std::numeric_limits<std::uint64_t>::max();
    CPPUNIT_ASSERT(fits(node, job, 1, 0, false));
    job.cpus_per_task = 2;
    CPPUNIT_ASSERT(!fits(node, job, 1, 0, true));
  }

  template <class Change> static std::string masked(Change change) {
    NodeState node = node_of("pcie8");
    Component job = component(1, 0, 2, 4);
    job.memory_per_node_mb = 1000;
    change(node, job);
    const std::string word = what_masks(node, 0, job, true);
    CPPUNIT_ASSERT_EQUAL(word.empty(), arrange(node, 0, job, job.workers, job.ps, true).has_value());
    return word;
  }

  void each_mask_has_its_word_and_the_first_wins() {
    const auto is = [](const char *word, auto change) { CPPUNIT_ASSERT_EQUAL(std::string(word), masked(change)); };
    is("", [](NodeState &, Component &) {});
    is("no such node", [](NodeState &n, Component &c) { n.name.clear(), n.usable = false, c.eligible.clear(0); });
    is("not eligible", [](NodeState &n, Component &c) { n.usable = false, c.eligible.clear(0); });
    is("not usable", [](NodeState &n, Component &) { n.usable = false, n.whole_taken = true; });
    is("taken whole by another job", [](NodeState &n, Component &) { n.whole_taken = true, n.free_gpus = Bits(8); });
    is("lacks GPUs of the model", [](NodeState &n, Component &c) { c.gpus.model = "h100", n.free_cores = Bits(32); });
    is("lacks GPUs", [](NodeState &n, Component &) { n.free_gpus = all(1); });
    is("busy GPUs", [](NodeState &n, Component &) { n.free_gpus = of(8, {3}), n.free_cores = Bits(32); });
    is("busy cores", [](NodeState &n, Component &) { n.free_cores = of(32, {1, 2, 3}), n.free_memory_mb = 0; });
    is("busy memory", [](NodeState &n, Component &) { n.free_memory_mb = 999; });
    is("other jobs on it", [](NodeState &n, Component &c) { c.whole_nodes = true, n.tenants.emplace_back(); });
    const auto name = [](NodeState &n) { n.gpu_models = std::vector<std::string>{"a", "a", "b", "a"}; };
    is("", [&](NodeState &n, Component &c) { name(n), c.gpus.model = "a"; });
    is("lacks GPUs of the model", [&](NodeState &n, Component &c) { name(n), c.gpus.model = "b"; });
    is("busy GPUs", [&](NodeState &n, Component &c) { name(n), c.gpus.model = "a", n.free_gpus = of(8, {0, 2, 7}); });
    is("busy GPUs", [](NodeState &n, Component &) {
      Topology topology = *n.topology;
      topology.gpus[1].lost = true;
      n.topology = std::make_shared<Topology>(topology);
      n.free_gpus = of(8, {1, 2});
    });
    // A PS holds no GPU, but Slurm wants one to be free on every node of a job with --gpus.
    NodeState node = node_of("nogpu");
    CPPUNIT_ASSERT_EQUAL(std::string("lacks GPUs"), what_masks(node, 0, component(2, 1, 1), true));
    CPPUNIT_ASSERT_EQUAL(std::string(), what_masks(node, 0, component(2, 1, 0), true));
    node = node_of("pcie8");
    node.free_gpus = of(8, {3});
    CPPUNIT_ASSERT_EQUAL(std::string(), what_masks(node, 0, component(2, 1, 2), true)); // room for the PS
  }

  void a_whole_node_is_given_with_all_it_has_and_only_if_nobody_is_there() {
    NodeState node = node_of("pcie8");
    node.free_cores.clear(0); // a specialised core
    Component job = component(2, 0, 1);
    job.whole_nodes = true;
    const Placement placement = arranged(node, job);
    CPPUNIT_ASSERT(placement.cores == node.free_cores);
    CPPUNIT_ASSERT(placement.gpus == node.free_gpus);
    node.free_gpus.clear(7);
    CPPUNIT_ASSERT(!fits(node, job, 2, 0, true));
    Topology topology = *node.topology;
    topology.gpus[7].lost = true; // nobody can have it
    node.topology = std::make_shared<Topology>(topology);
    CPPUNIT_ASSERT(fits(node, job, 2, 0, true));
    node.tenants.emplace_back();
    CPPUNIT_ASSERT(!fits(node, job, 2, 0, true));
  }
};

CPPUNIT_TEST_SUITE_REGISTRATION(FitTest);

} // namespace harmony
