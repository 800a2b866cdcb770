#include "src/learn/gym.h"

#include "src/learn/parallel.h"
#include "src/learn/workloads.h"
#include "src/sim/contenders.h"
#include "src/sim/metrics.h"

#include <algorithm>
#include <cmath>

namespace harmony {
namespace {

// Only what the dataset declared of sizes: what is built in was measured elsewhere.
JobTypes types_of(const TrainingData &data) {
  JobTypes types;
  types.clear();
  for (const auto &[name, kb] : data.model_kb) {
    JobType type;
    type.name = name;
    type.parameters_mb = kb / 1024;
    types.set(type);
  }
  return types;
}

} // namespace

Gym::Gym(const TrainingData &data, MakeTruth physics, const GymOptions &options)
    : data_(data), physics_(std::move(physics)), options_(options), types_(types_of(data)) {
  rooms_.resize(static_cast<std::size_t>(options.threads));
  for (std::vector<Room> &rooms : rooms_)
    for (const TrainingCluster &cluster : data.clusters)
      for (int variant = 0; variant < options.variants; ++variant) {
        Room room;
        room.rules = physics_(cluster.cluster, variant);
        room.best = std::make_unique<BestPlace>(cluster.cluster, types_, *room.rules);
        rooms.push_back(std::move(room));
      }
  for (const TrainingCluster &cluster : data.clusters) {
    std::vector<double> durations;
    for (const SimJob &job : cluster.jobs) durations.push_back(job.duration_s);
    intervals_.push_back(std::clamp(quantile(durations, 0.5) / 2, 10.0, 1200.0));
  }
}

std::vector<Arena> Gym::arenas(Jobs which, const std::vector<double> &loads, std::uint64_t seed) const {
  std::vector<Arena> all;
  for (std::size_t i = 0; i < data_.clusters.size(); ++i) {
    const TrainingCluster &cluster = data_.clusters[i];
    const JobSplit split = split_by_time(cluster);
    const std::vector<SimJob> &jobs = which == Jobs::train ? split.train : split.held_out;
    for (const double load : loads) {
      WorkloadOptions wanted;
      wanted.load = load;
      wanted.seed = seed * 1000 + i * 10 + static_cast<std::uint64_t>(load * 100);
      wanted.jobs = jobs_to_judge_by(cluster.cluster, options_.most_jobs);
      all.push_back({i, load, make_workload(cluster.cluster, jobs, wanted),
                     static_cast<int>((all.size() + seed) % static_cast<std::uint64_t>(options_.variants))});
    }
  }
  return all;
}

SimInput Gym::input(const Arena &arena, int thread) {
  Room &room = rooms_[static_cast<std::size_t>(thread)][arena.cluster * static_cast<std::size_t>(options_.variants) +
                                                        static_cast<std::size_t>(arena.variant)];
  return {data_.clusters[arena.cluster].cluster, types_, arena.workload, *room.rules, *room.best};
}

std::vector<double> Gym::run_policy(const std::vector<Arena> &arenas, const std::string &policy) {
  std::vector<double> jcts(arenas.size());
  in_parallel(arenas.size(), options_.threads, [&](std::size_t i, int thread) {
    const SimInput in = input(arenas[i], thread);
    ContenderNeeds needs;
    needs.settings = options_.sim.settings;
    const PlanRound rounds = make_contenders({policy}, needs, in.truth).front().make(in.truth, 1);
    jcts[i] = mean_jct(simulate(in, rounds, options_.sim));
  });
  return jcts;
}

std::vector<Episode> Gym::run(const std::vector<Arena> &arenas, const Decide &deciding) {
  std::vector<Episode> episodes(arenas.size());
  in_parallel(arenas.size(), options_.threads, [&](std::size_t i, int thread) {
    RewardRule rule;
    rule.interval_s = interval_s(arenas[i].cluster);
    episodes[i] = run_episode(input(arenas[i], thread), options_.sim, deciding(i), rule);
  });
  return episodes;
}

std::vector<std::vector<double>> Gym::run_all(const std::vector<Arena> &arenas, std::size_t ways,
                                              const std::function<Deciding(std::size_t way)> &deciding) {
  std::vector<std::vector<double>> jcts(ways, std::vector<double>(arenas.size()));
  in_parallel(ways * arenas.size(), options_.threads, [&](std::size_t piece, int thread) {
    const std::size_t way = piece % ways, arena = piece / ways;
    jcts[way][arena] = run_episode(input(arenas[arena], thread), options_.sim, deciding(way)).mean_jct_s;
  });
  return jcts;
}

namespace {

double mean_log(const std::vector<double> &jcts, const std::vector<double> &others, double worse_counts) {
  double sum = 0;
  for (std::size_t i = 0; i < jcts.size(); ++i) {
    const double off = std::log(std::max(1e-9, jcts[i]) / std::max(1e-9, others[i]));
    sum += off > 0 ? worse_counts * off : off;
  }
  return jcts.empty() ? 0 : sum / static_cast<double>(jcts.size());
}

} // namespace

double against(const std::vector<double> &jcts, const std::vector<double> &others) { return mean_log(jcts, others, 1); }

double cost_against(const std::vector<double> &jcts, const std::vector<double> &others) {
  return mean_log(jcts, others, 3);
}

} // namespace harmony
