// Small clusters and gangs for the tests of the ground truths.
#pragma once

#include "src/sim/truth/contention.h"
#include "tests/unit/plan_fixtures.h"

#include <memory>
#include <string>
#include <vector>

namespace harmony {
namespace fixtures {

inline SimCluster machines(int nodes, const std::string &profile) {
  SimCluster made;
  for (int i = 0; i < nodes; ++i) made.nodes.push_back(node("n" + std::to_string(i), profile));
  return made;
}

// As the cluster, with network cards of another speed.
inline SimCluster with_network(SimCluster cluster, std::uint32_t mbps) {
  for (NodeState &each : cluster.nodes) {
    if (!each.topology) continue;
    Topology topology = *each.topology;
    for (Nic &nic : topology.nics) nic.speed_mbps = mbps;
    each.topology = std::make_shared<const Topology>(topology);
  }
  return cluster;
}

// A worker on each of the GPUs, so many cores for each task.
inline TasksOn tasks(int node, const std::vector<int> &gpus, int ps = 0, int cores_a_task = 4) {
  TasksOn made;
  made.node = node;
  made.workers = static_cast<int>(gpus.size());
  made.ps = ps;
  made.cores = (made.workers + ps) * cores_a_task;
  made.gpus = Bits(16);
  for (const int gpu : gpus) made.gpus.set(gpu);
  return made;
}

inline Occupant job(const std::string &type, const std::vector<TasksOn> &where) {
  Occupant made;
  made.type = type;
  made.where = where;
  for (const TasksOn &each : where) {
    made.workers += each.workers;
    made.ps += each.ps;
  }
  return made;
}

// So many GPUs on each of the first nodes.
inline Occupant evenly(const std::string &type, int nodes, int gpus_a_node, int first_gpu = 0) {
  std::vector<TasksOn> where;
  for (int node = 0; node < nodes; ++node) {
    std::vector<int> gpus;
    for (int gpu = 0; gpu < gpus_a_node; ++gpu) gpus.push_back(first_gpu + gpu);
    where.push_back(tasks(node, gpus));
  }
  return job(type, where);
}

// The speeds of the jobs when all of them run, relative to each alone at its place.
inline std::vector<double> together(const Truth &rules, const std::vector<Occupant> &jobs) {
  const auto truth = rules.empty();
  std::vector<double> relative;
  for (std::size_t i = 0; i < jobs.size(); ++i) truth->start(static_cast<int>(i), jobs[i]);
  for (std::size_t i = 0; i < jobs.size(); ++i)
    relative.push_back(truth->speed(static_cast<int>(i)) / truth->alone(jobs[i]));
  return relative;
}

} // namespace fixtures
} // namespace harmony
