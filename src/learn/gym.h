// Where a policy practises and is judged: the clusters and jobs of a dataset, at several loads, in a physics that was
// learned from it (or, to see what that costs, in the true one). Episodes run on several threads; which thread runs
// what does not change any result.
#pragma once

#include "src/learn/episode.h"
#include "src/learn/training_data.h"
#include "src/sim/best_place.h"
#include "src/sim/truth/learned_truth.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace harmony {

// The physics of one cluster, made anew: one of several that a dataset allows.
using MakeTruth = std::function<std::unique_ptr<Truth>(const SimCluster &, int variant)>;

// One workload on one cluster.
struct Arena {
  std::size_t cluster = 0; // index into the gym's
  double load = 0;
  Workload workload;
  int variant = 0; // of the physics
};

struct GymOptions {
  SimOptions sim;
  int threads = 1;
  int most_jobs = 400; // of a workload
  int variants = 1;    // of the physics: workloads take turns with them
};

class Gym {
public:
  // The data must outlive it.
  Gym(const TrainingData &data, MakeTruth physics, const GymOptions &options);

  enum class Jobs { train, held_out };
  // A workload of each cluster at each load.
  std::vector<Arena> arenas(Jobs which, const std::vector<double> &loads, std::uint64_t seed) const;

  // Mean JCTs, one an arena.
  std::vector<double> run_policy(const std::vector<Arena> &arenas, const std::string &policy);
  // `deciding` is asked once an arena, on the thread that runs it.
  using Decide = std::function<Deciding(std::size_t arena)>;
  std::vector<Episode> run(const std::vector<Arena> &arenas, const Decide &deciding);
  // The same for many at once: every way of deciding in every arena; only mean JCTs, by way and arena.
  std::vector<std::vector<double>> run_all(const std::vector<Arena> &arenas, std::size_t ways,
                                           const std::function<Deciding(std::size_t way)> &deciding);

  double interval_s(std::size_t cluster) const { return intervals_[cluster]; } // of rewards

private:
  struct Room { // of one thread, one cluster and one variant
    std::unique_ptr<Truth> rules;
    std::unique_ptr<BestPlace> best;
  };
  SimInput input(const Arena &arena, int thread);

  const TrainingData &data_;
  const MakeTruth physics_;
  const GymOptions options_;
  JobTypes types_;
  std::vector<std::vector<Room>> rooms_; // by thread; by cluster, then variant
  std::vector<double> intervals_;        // by cluster
};

// The mean over arenas of how one does relative to the other, as a logarithm: -0.05 is 5 % better.
double against(const std::vector<double> &jcts, const std::vector<double> &others);
// The same, where being worse counts three times: a gain in one cluster is not to be paid for in another.
double cost_against(const std::vector<double> &jcts, const std::vector<double> &others);

} // namespace harmony
