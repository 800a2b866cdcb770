// A dataset as the trainer needs it: how fast jobs went beside whom, as rows of the reward network, and the clusters
// and jobs that were seen, from which workloads are made. Records are not trusted. For one thread.
#pragma once

#include "src/reward/reward_rows.h"
#include "src/sim/input/sim_cluster.h"
#include "src/sim/input/sim_job.h"

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace harmony {

// An interval whose speed is known.
struct RewardExample {
  int first = 0, end = 0; // rows
  float speed = 1;        // relative to the best, what is to be learned
  float weight = 1;
  int run = 0; // which run it is of
  int user = 0;
  int type = 0;
  int beside = 0; // other jobs
  double at_s = 0;
  int cluster = 0;        // which of those that were recorded
  std::uint64_t pair = 0; // victim and first neighbour, by type; 0: no neighbour
};

// Nodes that were seen together, and the jobs that ran on them.
struct TrainingCluster {
  std::string name;
  SimCluster cluster;
  std::vector<SimJob> jobs; // by submit time; duration_s is the time that each takes at its best
};

struct TrainingData {
  std::vector<std::string> types; // that a model of it knows; index + 1 is a row's type
  std::map<std::string, double> model_kb;
  std::vector<float> part_of_limit; // by type, the unknown one first: how much of their limits jobs take at their best
  std::vector<std::shared_ptr<const Topology>> topologies; // that rows refer to
  SparseRows rows;
  std::vector<RewardExample> examples; // by time
  std::vector<TrainingCluster> clusters;
  std::size_t intervals = 0, starts = 0, ends = 0, users = 0;
  std::size_t left_out = 0; // intervals whose start or nodes were not recorded
};

struct TrainingOptions {
  std::vector<std::string> held_out_types; // treated as unknown
  std::size_t most_examples = 150000;      // beyond them some are left out, evenly
};

// Throws std::runtime_error as read_intervals does, and if there is nothing in it.
TrainingData read_training_data(const std::vector<std::string> &directories, const TrainingOptions &options = {});

// What a dataset lacks to learn from, one line each; empty if it will do.
struct Needs {
  std::size_t intervals = 300, runs = 40;
};
std::vector<std::string> what_is_missing(const TrainingData &data, const Needs &needs = {});

// No user counts for more than this part of all examples (of two users and more).
constexpr double most_of_one_user = 0.25;

} // namespace harmony
