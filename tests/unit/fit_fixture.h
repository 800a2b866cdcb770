// Nodes and components for the tests of what fits where.
#pragma once

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

class FitFixture : public CppUnit::TestFixture {
protected:
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
};

} // namespace harmony
