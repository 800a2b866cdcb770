#include "src/plan/fit.h"

#include "src/discover/profiles.h"

#include <cppunit/extensions/HelperMacros.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <vector>

namespace harmony {

class FitTest : public CppUnit::TestFixture {
  CPPUNIT_TEST_SUITE(FitTest);
  CPPUNIT_TEST(cores_are_counted_as_slurm_allocates_them);
  CPPUNIT_TEST(gpus_go_to_workers_to_every_task_or_to_the_node);
  CPPUNIT_TEST(memory_is_needed_by_node_by_cpu_or_by_gpu);
  CPPUNIT_TEST(the_most_tasks_fit_and_one_more_does_not);
  CPPUNIT_TEST(numbers_too_large_to_count_do_not_fit);
  CPPUNIT_TEST(each_mask_has_its_word_and_the_first_wins);
  CPPUNIT_TEST(a_whole_node_is_given_with_all_it_has_and_only_if_nobody_is_there);
  CPPUNIT_TEST(what_is_arranged_is_free_and_exact_and_always_the_same);
  CPPUNIT_TEST(a_topology_of_nonsense_does_no_harm);
  CPPUNIT_TEST(single_gpus_fill_one_socket_before_they_break_another);
  CPPUNIT_TEST(a_single_gpu_breaks_no_fresh_group_while_a_broken_one_has_room);
  CPPUNIT_TEST(a_task_of_two_gpus_is_below_one_switch_though_lower_ones_are_free);
  CPPUNIT_TEST(gpus_of_one_task_are_as_near_each_other_as_can_be);
  CPPUNIT_TEST(each_task_of_several_is_below_one_switch_if_that_can_be);
  CPPUNIT_TEST(a_large_task_stays_below_the_upper_switch);
  CPPUNIT_TEST(among_equals_the_better_linked_gpus_are_chosen);
  CPPUNIT_TEST(without_a_topology_the_lowest_are_chosen);
  CPPUNIT_TEST(cores_are_beside_the_gpus);
  CPPUNIT_TEST(a_ps_is_beside_its_workers_or_where_gpus_miss_its_cores_least);
  CPPUNIT_TEST_SUITE_END();

  static constexpr const char *profiles[] = {"pcie8", "dgx1", "dgx2", "epyc4", "servers6", "nogpu", "gh200"};

  std::mt19937 random_{1};
  int below(int limit) { return static_cast<int>(random_() % static_cast<unsigned>(limit)); }

  static Bits all(int size) {
    Bits bits(size);
    bits.set_all();
    return bits;
  }

  static Bits of(int size, const std::vector<int> &numbers) {
    Bits bits(size);
    for (int number : numbers) bits.set(number);
    return bits;
  }

  static std::vector<int> numbers(const Bits &bits) {
    std::vector<int> result;
    for (int bit : each(bits)) result.push_back(bit);
    return result;
  }

  static NodeState node_with(const Topology &topology) {
    NodeState node;
    node.name = "n1";
    node.usable = true;
    int cores = 0;
    for (const NumaNode &numa : topology.numa) cores = std::max(cores, numa.cores.back().last + 1);
    node.free_cores = all(cores);
    node.free_gpus = all(static_cast<int>(topology.gpus.size()));
    node.memory_mb = node.free_memory_mb = 100000;
    node.topology = std::make_shared<Topology>(topology);
    return node;
  }
  static NodeState node_of(const char *profile) { return node_with(*synthetic_topology(profile)); }

  static Component component(int workers, int ps, int gpus_per_worker, int cpus_per_task = 1) {
    Component component;
    component.workers = workers;
    component.ps = ps;
    component.gpus.per_job = workers * gpus_per_worker;
    component.cpus_per_task = cpus_per_task;
    component.eligible = all(1);
    return component;
  }

  static Placement arranged(const NodeState &node, const Component &component) {
    const auto placement = arrange(node, 0, component, component.workers, component.ps, true);
    CPPUNIT_ASSERT(placement.has_value());
    return *placement;
  }

  static void assert_gpus(const std::vector<int> &expected, const NodeState &node, const Component &component) {
    std::string got = "got";
    const std::vector<int> gpus = numbers(arranged(node, component).gpus);
    for (int gpu : gpus) got += ' ' + std::to_string(gpu);
    CPPUNIT_ASSERT_MESSAGE(got, expected == gpus);
  }

  void make_busy(NodeState &node, int one_in) {
    for (int core = 0; core < node.free_cores.size(); ++core)
      if (below(one_in) == 0) node.free_cores.clear(core);
    for (int gpu = 0; gpu < node.free_gpus.size(); ++gpu)
      if (below(one_in) == 0) node.free_gpus.clear(gpu);
  }

  Component random_component() {
    Component result = component(below(5), below(3), 0, 1 + below(5));
    switch (below(4)) {
    case 0: result.gpus.per_job = result.workers * (1 + below(3)); break;
    case 1: result.gpus.per_task = 1 + below(3); break;
    case 2: result.gpus.per_node = 1 + below(5); break;
    default: break;
    }
    switch (below(4)) {
    case 0: result.memory_per_node_mb = 1 + random_() % 120000; break;
    case 1: result.memory_per_cpu_mb = 1 + random_() % 20000; break;
    case 2: result.memory_per_gpu_mb = 1 + random_() % 60000; break;
    default: break;
    }
    result.tasks_per_node = std::max(0, below(9) - 4);
    result.one_task_a_core = below(2);
    result.whole_nodes = below(8) == 0;
    return result;
  }

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

  void assert_sound(const NodeState &node, const Component &job) {
    const auto placement = arrange(node, 0, job, job.workers, job.ps, true);
    CPPUNIT_ASSERT_EQUAL(job.tasks() > 0 && fits(node, job, job.workers, job.ps, true), placement.has_value());
    if (!placement) return;
    CPPUNIT_ASSERT(node.free_cores.contains(placement->cores));
    CPPUNIT_ASSERT((job.whole_nodes ? node.free_gpus : suitable_gpus(node, job)).contains(placement->gpus));
    const int gpus = job.whole_nodes ? node.free_gpus.count() : gpus_needed(job, job.workers, job.ps);
    CPPUNIT_ASSERT_EQUAL(gpus, placement->gpus.count());
    const int cores = job.whole_nodes ? node.free_cores.count() : cores_needed(node, job, job.workers, job.ps);
    CPPUNIT_ASSERT_EQUAL(cores, placement->cores.count());
    const auto again = arrange(node, 0, job, job.workers, job.ps, true);
    CPPUNIT_ASSERT(again->cores == placement->cores && again->gpus == placement->gpus);
  }

  void what_is_arranged_is_free_and_exact_and_always_the_same() {
    for (int round = 0; round < 4000; ++round) {
      Topology topology = *synthetic_topology(profiles[below(7)]);
      for (Gpu &gpu : topology.gpus) gpu.lost = below(12) == 0;
      NodeState node = node_with(topology);
      make_busy(node, 2 + below(9));
      node.threads_per_core = 1 + below(4);
      Component job = random_component();
      if (below(4) == 0) {
        for (int gpu = 0; gpu < node.free_gpus.size(); ++gpu) node.gpu_models.push_back(below(3) ? "a" : "b");
        job.gpus.model = below(2) ? "a" : "b";
      }
      assert_sound(node, job);
    }
  }

  void a_topology_of_nonsense_does_no_harm() {
    for (int round = 0; round < 4000; ++round) {
      const auto any = [&] { return below(12) - 2; };
      Topology topology;
      topology.sockets = any();
      for (int i = below(5); i > 0; --i) topology.numa.push_back({any(), {{any() - 3, any() * 8}, {any(), any()}}, 0});
      for (int i = below(9); i > 0; --i)
        topology.domains.push_back({below(2) ? DomainKind::host_bridge : DomainKind::pcie_switch, any(), any()});
      topology.gpus.resize(static_cast<std::size_t>(below(12)));
      for (Gpu &gpu : topology.gpus) gpu.domain = any();
      for (int i = below(20); i > 0; --i) topology.links.push_back({any(), any(), any()});
      NodeState node = node_of("pcie8");
      node.topology = std::make_shared<Topology>(topology);
      make_busy(node, 6);
      assert_sound(node, random_component());
    }
  }

  // Starts the job there.
  static std::vector<int> start(NodeState &node, const Component &job) {
    const Placement placement = arranged(node, job);
    node.free_cores -= placement.cores;
    node.free_gpus -= placement.gpus;
    return numbers(placement.gpus);
  }

  void single_gpus_fill_one_socket_before_they_break_another() {
    for (const char *profile : {"pcie8", "dgx1"}) {
      NodeState node = node_of(profile);
      const int socket = start(node, component(1, 0, 1))[0] / 4;
      for (int i = 1; i < 4; ++i) CPPUNIT_ASSERT_EQUAL(socket, start(node, component(1, 0, 1))[0] / 4);
      const Bits before = node.free_gpus;
      CPPUNIT_ASSERT(arranged(node, component(1, 0, 4)).gpus == before);
      CPPUNIT_ASSERT(arranged(node, component(4, 0, 1)).gpus == before);
      // The next pair of single ones shares a switch, so that a pair finds one.
      const int gpu = start(node, component(1, 0, 1))[0];
      CPPUNIT_ASSERT_EQUAL(gpu / 2, start(node, component(1, 0, 1))[0] / 2);
      CPPUNIT_ASSERT_EQUAL(gpu / 4, start(node, component(1, 0, 2))[0] / 4);
    }
  }

  // Groups of so many GPUs: how many are free in that of the GPU.
  static int free_beside(const NodeState &node, int gpu, int group) {
    int free = 0;
    for (int other : each(node.free_gpus)) free += other / group == gpu / group;
    return free;
  }

  void a_single_gpu_breaks_no_fresh_group_while_a_broken_one_has_room() {
    for (int free = 1; free < 256; ++free) {
      NodeState node = node_of("pcie8");
      for (int gpu = 0; gpu < 8; ++gpu)
        if (!(free >> gpu & 1)) node.free_gpus.clear(gpu);
      const int chosen = numbers(arranged(node, component(1, 0, 1)).gpus)[0];
      int socket = 4, pair = 2;
      for (int gpu : each(node.free_gpus)) socket = std::min(socket, free_beside(node, gpu, 4));
      CPPUNIT_ASSERT_EQUAL(socket, free_beside(node, chosen, 4));
      for (int gpu : each(node.free_gpus))
        if (gpu / 4 == chosen / 4) pair = std::min(pair, free_beside(node, gpu, 2));
      CPPUNIT_ASSERT_EQUAL(pair, free_beside(node, chosen, 2));
    }
  }

  void a_task_of_two_gpus_is_below_one_switch_though_lower_ones_are_free() {
    NodeState node = node_of("pcie8");
    node.free_gpus = of(8, {1, 2, 3, 4, 5, 6, 7});
    assert_gpus({2, 3}, node, component(1, 0, 2));
    assert_gpus({2, 3}, node, component(2, 0, 1));
    // Torn apart on the broken socket, or whole on the fresh one: a task is kept whole, two tasks break nothing.
    node.free_gpus = of(8, {1, 2, 4, 5, 6, 7});
    assert_gpus({4, 5}, node, component(1, 0, 2));
    assert_gpus({1, 2}, node, component(2, 0, 1));
  }

  static int worst_reach(const Topology &topology, const std::vector<int> &gpus) {
    int worst = 0;
    for (int one : gpus)
      for (int other : gpus) worst = std::max(worst, static_cast<int>(reach(topology, one, other)));
    return worst;
  }

  void gpus_of_one_task_are_as_near_each_other_as_can_be() {
    for (int round = 0; round < 400; ++round) {
      NodeState node = node_of(profiles[below(2)]);
      make_busy(node, 3);
      const int count = 2 + below(3);
      int best = 99;
      for (int set = 0; set < 256; ++set) {
        Bits gpus(8);
        gpus.words()[0] = static_cast<std::uint64_t>(set);
        if (gpus.count() == count && node.free_gpus.contains(gpus))
          best = std::min(best, worst_reach(*node.topology, numbers(gpus)));
      }
      if (best == 99) continue;
      node.free_cores.set_all();
      const Placement placement = arranged(node, component(1, 0, count));
      CPPUNIT_ASSERT_EQUAL(best, worst_reach(*node.topology, numbers(placement.gpus)));
    }
  }

  void each_task_of_several_is_below_one_switch_if_that_can_be() {
    for (int round = 0; round < 1000; ++round) {
      NodeState node = node_of("dgx2");
      make_busy(node, 2 + below(4));
      node.free_cores.set_all();
      const auto pairs = [](const Bits &gpus) {
        int count = 0;
        for (int gpu = 0; gpu < gpus.size(); gpu += 2) count += gpus.test(gpu) && gpus.test(gpu + 1);
        return count;
      };
      const int tasks = 2 + below(3);
      if (pairs(node.free_gpus) < tasks) continue;
      CPPUNIT_ASSERT_EQUAL(tasks, pairs(arranged(node, component(tasks, 0, 2)).gpus));
    }
  }

  void a_large_task_stays_below_the_upper_switch() {
    NodeState node = node_of("dgx2");
    node.free_gpus.clear(0);
    assert_gpus({4, 5, 6, 7}, node, component(1, 0, 4));
    assert_gpus({4, 5, 6, 7}, node, component(2, 0, 2));
    assert_gpus({1, 2, 3}, node, component(1, 0, 3));
    assert_gpus({8, 9, 10, 11, 12, 13, 14, 15}, node, component(4, 0, 2));
  }

  void among_equals_the_better_linked_gpus_are_chosen() {
    NodeState node = node_of("dgx1");
    assert_gpus({2, 3}, node, component(1, 0, 2)); // 2 links, between 0 and 1 there is 1
    node.free_gpus = of(8, {0, 1, 4});
    assert_gpus({0, 1}, node, component(1, 0, 2)); // a switch goes before links

    Topology flat = *synthetic_topology("servers6");
    flat.gpus.resize(6, flat.gpus[0]);
    flat.links = {{0, 1, 1}, {2, 5, 2}, {3, 5, 2}};
    assert_gpus({2, 5}, node_with(flat), component(1, 0, 2));
    assert_gpus({2, 3, 5}, node_with(flat), component(1, 0, 3));
    flat.links.clear();
    assert_gpus({0, 1}, node_with(flat), component(1, 0, 2));
  }

  void without_a_topology_the_lowest_are_chosen() {
    NodeState node = node_of("pcie8");
    node.free_gpus = of(8, {1, 2, 3, 4, 7});
    node.free_cores = of(32, {3, 5, 6, 20});
    for (int known : {-1, 0, 7}) {
      Topology topology = *synthetic_topology("pcie8");
      topology.gpus.resize(static_cast<std::size_t>(std::max(known, 0)));
      node.topology = known < 0 ? nullptr : std::make_shared<Topology>(topology);
      assert_gpus({1, 2}, node, component(1, 0, 2));
      assert_gpus({1, 2, 3, 4}, node, component(2, 0, 2));
      const Placement placement = arranged(node, component(1, 0, 1, 3));
      CPPUNIT_ASSERT(numbers(placement.cores) == (std::vector<int>{3, 5, 6}));
    }
  }

  // How many of the cores are on the first socket of pcie8.
  static int on_first_socket(const Placement &placement) {
    int count = 0;
    for (int core : each(placement.cores)) count += core < 16;
    return count;
  }

  void cores_are_beside_the_gpus() {
    NodeState node = node_of("pcie8");
    node.free_gpus = of(8, {6, 7});
    CPPUNIT_ASSERT(numbers(arranged(node, component(2, 0, 1, 2)).cores) == (std::vector<int>{16, 17, 18, 19}));
    node.free_cores = of(32, {0, 1, 2, 3, 20, 21});
    CPPUNIT_ASSERT(numbers(arranged(node, component(2, 0, 1, 2)).cores) == (std::vector<int>{0, 1, 20, 21}));

    node = node_of("pcie8");
    CPPUNIT_ASSERT_EQUAL(4, on_first_socket(arranged(node, component(1, 0, 8, 8))));
    CPPUNIT_ASSERT_EQUAL(8, on_first_socket(arranged(node, component(8, 0, 1, 2))));
    node.free_gpus = of(8, {0, 4, 5, 6});
    CPPUNIT_ASSERT_EQUAL(3, on_first_socket(arranged(node, component(4, 0, 1, 3))));

    // Two NUMA nodes a socket: what one lacks comes from the other before it comes from the other socket.
    Topology halves = *synthetic_topology("pcie8");
    halves.numa = {{0, {{0, 7}}, 0}, {0, {{8, 15}}, 0}, {1, {{16, 23}}, 0}, {1, {{24, 31}}, 0}};
    for (Domain &domain : halves.domains) domain.numa *= 2;
    node = node_with(halves);
    node.free_gpus = of(8, {4});
    node.free_cores = of(32, {0, 1, 2, 3, 4, 16, 24, 25});
    CPPUNIT_ASSERT(arranged(node, component(1, 0, 1, 3)).cores == of(32, {16, 24, 25}));
    CPPUNIT_ASSERT(arranged(node, component(1, 0, 1, 5)).cores == of(32, {0, 1, 16, 24, 25}));

    node = node_of("epyc4"); // one socket of four NUMA nodes with a GPU each
    node.free_gpus = of(4, {2});
    CPPUNIT_ASSERT(arranged(node, component(1, 0, 1, 2)).cores == of(64, {32, 33}));
  }

  void a_ps_is_beside_its_workers_or_where_gpus_miss_its_cores_least() {
    NodeState node = node_of("pcie8");
    node.free_gpus = of(8, {0, 1, 2, 3, 4, 5});
    CPPUNIT_ASSERT_EQUAL(0, on_first_socket(arranged(node, component(0, 2, 0, 2)))); // more cores a free GPU
    CPPUNIT_ASSERT_EQUAL(0, on_first_socket(arranged(node, component(2, 1, 1, 4))));
    node.free_gpus = of(8, {0, 1, 4, 5, 6, 7});
    CPPUNIT_ASSERT_EQUAL(4, on_first_socket(arranged(node, component(0, 2, 0, 2))));
    CPPUNIT_ASSERT_EQUAL(12, on_first_socket(arranged(node, component(2, 1, 1, 4))));
    // No room beside them: elsewhere.
    CPPUNIT_ASSERT_EQUAL(12, on_first_socket(arranged(node, component(2, 1, 1, 6))));
    // Four workers share two GPUs, and nothing is counted twice.
    Component sharing = component(4, 1, 0, 3);
    sharing.gpus.per_node = 2;
    CPPUNIT_ASSERT_EQUAL(15, on_first_socket(arranged(node, sharing)));
    // Tasks that no socket has room for still find every core.
    CPPUNIT_ASSERT_EQUAL(32, arranged(node, component(0, 32, 0)).cores.count());
    // Beside its worker though the other socket has more to spare, but not on the last cores of the GPUs there.
    node.free_gpus = of(8, {0, 1, 2, 3});
    CPPUNIT_ASSERT_EQUAL(8, on_first_socket(arranged(node, component(1, 1, 1, 4))));
    for (int core = 0; core < 6; ++core) node.free_cores.clear(core);
    CPPUNIT_ASSERT_EQUAL(4, on_first_socket(arranged(node, component(1, 1, 1, 4))));
  }
};

CPPUNIT_TEST_SUITE_REGISTRATION(FitTest);

} // namespace harmony
