// Which cores and GPUs of a node tasks get.
#include "tests/unit/fit_fixture.h"

#include <initializer_list>
#include <optional>
#include <utility>

namespace harmony {

class ArrangeTest : public FitFixture {
  CPPUNIT_TEST_SUITE(ArrangeTest);
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
  CPPUNIT_TEST(workers_go_into_the_domains_that_are_asked_for);
  CPPUNIT_TEST(a_domain_without_room_for_its_workers_arranges_nothing);
  CPPUNIT_TEST(domains_say_nothing_about_workers_without_gpus_of_their_own);
  CPPUNIT_TEST_SUITE_END();

public:
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

  // The domain of each GPU of pcie8, and so many workers there.
  static int domain_of(const NodeState &node, int gpu) {
    return node.topology->gpus[static_cast<std::size_t>(gpu)].domain;
  }
  static std::vector<int> in(const NodeState &node, std::initializer_list<std::pair<int, int>> gpus_and_workers) {
    std::vector<int> workers(node.topology->domains.size());
    for (const auto &[gpu, count] : gpus_and_workers) workers[static_cast<std::size_t>(domain_of(node, gpu))] += count;
    return workers;
  }
  static std::optional<Placement> arranged_in(const NodeState &node, const Component &job,
                                              const std::vector<int> &workers_in) {
    return arrange(node, 0, job, job.workers, job.ps, true, workers_in);
  }

  void workers_go_into_the_domains_that_are_asked_for() {
    NodeState node = node_of("pcie8"); // two GPUs a switch
    CPPUNIT_ASSERT(arranged_in(node, component(2, 0, 1), in(node, {{6, 2}}))->gpus == of(8, {6, 7}));
    CPPUNIT_ASSERT(arranged_in(node, component(2, 0, 1), in(node, {{2, 1}, {4, 1}}))->gpus == of(8, {2, 4}));
    CPPUNIT_ASSERT(arranged_in(node, component(1, 0, 2), in(node, {{4, 1}}))->gpus == of(8, {4, 5}));
    // Those without a domain are near the others that are taken: the switch is broken already.
    CPPUNIT_ASSERT(arranged_in(node, component(2, 0, 1), in(node, {{6, 1}}))->gpus == of(8, {6, 7}));
    CPPUNIT_ASSERT(arranged_in(node, component(2, 0, 1), in(node, {}))->gpus ==
                   arranged(node, component(2, 0, 1)).gpus);
    // Cores follow the GPUs.
    CPPUNIT_ASSERT_EQUAL(0, on_first_socket(*arranged_in(node, component(2, 0, 1, 2), in(node, {{6, 2}}))));
    CPPUNIT_ASSERT_EQUAL(2, on_first_socket(*arranged_in(node, component(2, 0, 1, 2), in(node, {{0, 1}, {6, 1}}))));
    // A PS that holds a GPU goes anywhere, and parts of --gpus-per-node that come out even are the workers'.
    Component with_ps = component(1, 1, 0);
    with_ps.gpus.per_task = 1;
    const Bits both = arranged_in(node, with_ps, in(node, {{6, 1}}))->gpus;
    CPPUNIT_ASSERT(both.count() == 2 && (both.test(6) || both.test(7)));
    Component per_node = component(2, 1, 0);
    per_node.gpus.per_node = 4;
    CPPUNIT_ASSERT(arranged_in(node, per_node, in(node, {{2, 1}, {6, 1}}))->gpus == of(8, {2, 3, 6, 7}));
  }

  void a_domain_without_room_for_its_workers_arranges_nothing() {
    NodeState node = node_of("pcie8");
    CPPUNIT_ASSERT(!arranged_in(node, component(3, 0, 1), in(node, {{6, 3}})));
    CPPUNIT_ASSERT(!arranged_in(node, component(2, 0, 1), in(node, {{4, 2}, {6, 1}}))); // more than it has workers
    CPPUNIT_ASSERT(!arranged_in(node, component(2, 0, 1), in(node, {{4, -1}})));
    CPPUNIT_ASSERT(!arranged_in(node, component(1, 0, 1), std::vector<int>(100, 1)));
    std::vector<int> beyond(node.topology->domains.size() + 1);
    beyond.back() = 1;
    CPPUNIT_ASSERT(!arranged_in(node, component(1, 0, 1), beyond));
    node.free_gpus.clear(6);
    CPPUNIT_ASSERT(!arranged_in(node, component(2, 0, 1), in(node, {{6, 2}})));
    CPPUNIT_ASSERT(arranged_in(node, component(2, 0, 1), in(node, {{6, 1}})).has_value());
    const std::vector<int> one = in(node, {{6, 1}});
    node.topology = nullptr;
    CPPUNIT_ASSERT(!arranged_in(node, component(2, 0, 1), one));
    CPPUNIT_ASSERT(arranged_in(node, component(2, 0, 1), {}).has_value());
  }

  void domains_say_nothing_about_workers_without_gpus_of_their_own() {
    const NodeState node = node_of("pcie8");
    CPPUNIT_ASSERT(arranged_in(node, component(2, 0, 0), in(node, {{6, 2}})).has_value());
    Component uneven = component(3, 0, 0);
    uneven.gpus.per_node = 2;
    CPPUNIT_ASSERT(arranged_in(node, uneven, in(node, {{6, 3}}))->gpus == arranged(node, uneven).gpus);
  }
};

CPPUNIT_TEST_SUITE_REGISTRATION(ArrangeTest);

} // namespace harmony
