#include "src/learn/training_data.h"

#include "src/encode/node_encoding.h"
#include "src/encode/usual_times.h"
#include "src/publish/compact.h"
#include "src/record/dataset_reader.h"
#include "src/reward/reward_network.h"
#include "src/sim/metrics.h"
#include "src/store/manifest.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <stdexcept>
#include <tuple>

namespace harmony {
namespace {

constexpr double fastest_speed = 1.05; // that is learned from

struct Seen { // all records of one kind or another
  std::map<RunId, StartRecord> starts;
  std::map<RunId, EndRecord> ends;
  std::map<std::pair<std::string, std::string>, std::shared_ptr<const Topology>> nodes; // by cluster and name
  std::map<std::pair<std::string, std::string>, std::string> compact;
  std::vector<IntervalRecord> intervals;

  void take(const Record &record) {
    if (const auto *start = std::get_if<StartRecord>(&record)) starts.emplace(start->id, *start);
    if (const auto *end = std::get_if<EndRecord>(&record)) ends.emplace(end->id, *end);
    const auto *node = std::get_if<NodeRecord>(&record);
    if (!node) return;
    CompactResult read = parse_compact(node->topology);
    if (!read.problem.empty() || nodes.count({node->cluster, node->node})) return;
    nodes[{node->cluster, node->node}] = std::make_shared<const Topology>(std::move(read.topology));
    compact[{node->cluster, node->node}] = node->topology;
  }
};

std::vector<std::string> types_of(const Seen &seen, const TrainingOptions &options) {
  std::map<std::string, int> counts;
  for (const auto &[id, start] : seen.starts) ++counts[start.type];
  counts.erase(unknown_type);
  for (const std::string &type : options.held_out_types) counts.erase(type);
  std::vector<std::pair<int, std::string>> order;
  for (const auto &[type, count] : counts) order.emplace_back(-count, type);
  std::sort(order.begin(), order.end());
  if (order.size() > max_model_types) order.resize(max_model_types);
  std::vector<std::string> types;
  for (const auto &[count, type] : order) types.push_back(type);
  std::sort(types.begin(), types.end());
  return types;
}

// Makes rows of intervals.
class Examples {
public:
  Examples(const Seen &seen, TrainingData &data)
      : seen_(seen), data_(data), types_(data.types), encoder_(types_.count()) {}

  void add(const IntervalRecord &interval) {
    const auto found = seen_.starts.find(interval.id);
    std::vector<RewardPlace> places;
    if (found == seen_.starts.end() || found->second.cut || interval.cut || !interval.relative_speed ||
        !places_of(found->second, interval, places)) {
      ++data_.left_out;
      return;
    }
    const StartRecord &start = found->second;
    RewardExample example;
    example.first = data_.rows.count();
    encoder_.append({types_.of(start.type), start.workers, start.ps, static_cast<int>(places.size()),
                     static_cast<double>(start.model_kb)},
                    places, data_.rows);
    example.end = data_.rows.count();
    example.speed = static_cast<float>(std::clamp(*interval.relative_speed, slowest_speed, fastest_speed));
    example.weight = static_cast<float>(std::clamp((interval.end_s - interval.begin_s) / 60, 0.05, 1.0));
    example.run = number_of(runs_, interval.id);
    example.user = number_of(users_, start.user);
    example.type = types_.of(start.type);
    example.beside = static_cast<int>(interval.neighbours.size());
    example.at_s = interval.begin_s;
    example.cluster = number_of(clusters_, interval.id.cluster);
    if (!interval.neighbours.empty())
      example.pair = 1 + static_cast<std::uint64_t>(example.type) * 1000 +
                     static_cast<std::uint64_t>(types_.of(interval.neighbours.front().type));
    data_.examples.push_back(example);
  }
  std::size_t users() const { return users_.size(); }

private:
  template <class Key> static int number_of(std::map<Key, int> &known, const Key &key) {
    return known.emplace(key, static_cast<int>(known.size())).first->second;
  }

  bool places_of(const StartRecord &start, const IntervalRecord &interval, std::vector<RewardPlace> &places) const {
    std::map<std::string, RewardPlace> by_node;
    for (const TasksAt &tasks : start.placement) {
      const auto node = seen_.nodes.find({start.id.cluster, tasks.node});
      if (node == seen_.nodes.end()) return false;
      RewardPlace &place = by_node[tasks.node];
      place.topology = node->second.get();
      place.node_gpus = static_cast<int>(place.topology->gpus.size());
      place.workers += tasks.workers;
      place.ps += tasks.ps;
      place.gpus.join(tasks.gpus);
    }
    for (const Neighbour &neighbour : interval.neighbours)
      for (const TasksAt &tasks : neighbour.on) {
        const auto here = by_node.find(tasks.node);
        if (here == by_node.end()) return false;
        here->second.beside.push_back({neighbour.job, types_.of(neighbour.type), neighbour.nodes > 1, tasks.workers,
                                       tasks.ps, &tasks.gpus, neighbour.workers, neighbour.ps});
      }
    for (auto &[name, place] : by_node) places.push_back(std::move(place));
    return !places.empty();
  }

  const Seen &seen_;
  TrainingData &data_;
  const TypeIndex types_;
  RewardEncoder encoder_;
  std::map<RunId, int> runs_;
  std::map<std::string, int> users_, clusters_;
};

// A run counts as much as ten of its intervals, and a user as a part of all.
void weigh(std::vector<RewardExample> &examples, std::size_t users) {
  std::map<int, double> of_run, of_user;
  for (const RewardExample &each : examples) of_run[each.run] += static_cast<double>(each.weight);
  double all = 0;
  for (RewardExample &each : examples) {
    const double most = 10;
    if (of_run[each.run] > most) each.weight *= static_cast<float>(most / of_run[each.run]);
    of_user[each.user] += static_cast<double>(each.weight);
    all += static_cast<double>(each.weight);
  }
  if (users < 2) return;
  for (RewardExample &each : examples) {
    const double its = of_user[each.user], others = all - its,
                 most = others * most_of_one_user / (1 - most_of_one_user);
    if (its > most) each.weight *= static_cast<float>(most / its);
  }
}

SimJob job_of(const StartRecord &start, double best_s, std::uint32_t id) {
  SimJob job;
  job.id = id;
  job.submit_s = start.submit_s;
  job.type = start.type;
  job.workers = std::max(1, start.workers);
  job.ps = start.ps;
  job.gpus_per_worker = std::max(0, start.gpus) / job.workers;
  job.cpus_per_worker = job.cpus_per_ps = std::max(1, start.cpus_per_task);
  job.duration_s = best_s;
  job.time_limit_s = 60.0 * start.time_limit_min;
  job.user = static_cast<std::uint32_t>(std::hash<std::string>()(start.user));
  return job;
}

// Clusters with the same kinds of nodes are one: simulations of several seeds, say.
std::string kinds_of(const Seen &seen, const std::string &cluster, std::map<std::string, int> &counts) {
  std::set<std::string> kinds;
  for (const auto &[key, text] : seen.compact) {
    if (key.first != cluster) continue;
    kinds.insert(text);
    ++counts[text];
  }
  std::string all;
  for (const std::string &kind : kinds) all += kind;
  return all;
}

void find_clusters(const Seen &seen, const std::map<RunId, double> &best_s, TrainingData &data) {
  struct Group {
    std::string name;
    std::map<std::string, int> counts;
    std::vector<SimJob> jobs;
  };
  std::map<std::string, Group> groups;
  std::map<std::string, Group *> by_cluster;
  for (const auto &[id, start] : seen.starts) {
    Group *&group = by_cluster[id.cluster];
    if (!group) {
      std::map<std::string, int> counts;
      group = &groups[kinds_of(seen, id.cluster, counts)];
      if (group->name.empty()) group->name = id.cluster;
      for (const auto &[kind, count] : counts) group->counts[kind] = std::max(group->counts[kind], count);
    }
    const auto best = best_s.find(id);
    if (best == best_s.end() || best->second < 1 || start.gpus <= 0) continue;
    group->jobs.push_back(job_of(start, best->second, static_cast<std::uint32_t>(group->jobs.size() + 1)));
  }
  for (auto &[kinds, group] : groups) {
    if (group.counts.empty() || group.jobs.empty()) continue;
    TrainingCluster made;
    made.name = made.cluster.name = group.name;
    int at = 0;
    for (const auto &[kind, count] : group.counts) {
      NodeGroup nodes;
      nodes.name = fmt::format("k{}-", at++);
      nodes.count = count;
      nodes.topology = kind;
      add_group(made.cluster, nodes);
    }
    made.jobs = std::move(group.jobs);
    std::stable_sort(made.jobs.begin(), made.jobs.end(),
                     [](const SimJob &a, const SimJob &b) { return a.submit_s < b.submit_s; });
    data.clusters.push_back(std::move(made));
  }
}

// How long each run that completed would have taken at its best.
std::map<RunId, double> best_times(const Seen &seen) {
  std::map<RunId, double> seconds;
  for (const IntervalRecord &each : seen.intervals)
    if (each.relative_speed)
      seconds[each.id] += std::clamp(*each.relative_speed, slowest_speed, fastest_speed) * (each.end_s - each.begin_s);
  std::map<RunId, double> best;
  for (const auto &[id, end] : seen.ends) {
    if (end.state != "COMPLETED") continue;
    const auto known = seconds.find(id);
    best[id] = known != seconds.end() && !end.disturbed ? known->second : end.elapsed_s;
  }
  return best;
}

// Of each type the middle one, and of types that few jobs were of that of all.
std::vector<float> parts_of_limits(const Seen &seen, const std::map<RunId, double> &best_s, const TypeIndex &types) {
  constexpr std::size_t few = 5;
  std::vector<double> all;
  std::vector<std::vector<double>> by_type(static_cast<std::size_t>(types.count()));
  for (const auto &[id, seconds] : best_s) {
    const auto start = seen.starts.find(id);
    if (start == seen.starts.end() || start->second.time_limit_min <= 0 || seconds <= 0) continue;
    all.push_back(std::min(1.0, seconds / (60.0 * start->second.time_limit_min)));
    by_type[static_cast<std::size_t>(types.of(start->second.type))].push_back(all.back());
  }
  const double usual = all.empty() ? static_cast<double>(UsualTimes::assumed_part) : quantile(all, 0.5);
  std::vector<float> parts;
  for (const std::vector<double> &each : by_type)
    parts.push_back(static_cast<float>(each.size() < few ? usual : quantile(each, 0.5)));
  return parts;
}

} // namespace

TrainingData read_training_data(const std::vector<std::string> &directories, const TrainingOptions &options) {
  Seen seen;
  for (const std::string &directory : directories) {
    std::vector<IntervalRecord> intervals =
        read_intervals(directory, [&seen](const Record &record) { seen.take(record); });
    std::move(intervals.begin(), intervals.end(), std::back_inserter(seen.intervals));
  }
  TrainingData data;
  data.starts = seen.starts.size();
  data.ends = seen.ends.size();
  data.intervals = seen.intervals.size();
  data.types = types_of(seen, options);
  for (const auto &[id, start] : seen.starts)
    if (start.model_kb > 0) data.model_kb[start.type] = start.model_kb;
  for (const auto &[key, topology] : seen.nodes) data.topologies.push_back(topology);
  const std::map<RunId, double> best_s = best_times(seen);
  data.part_of_limit = parts_of_limits(seen, best_s, TypeIndex(data.types));
  find_clusters(seen, best_s, data);
  Examples examples(seen, data);
  // Of too many, every n-th or so: evenly over time.
  const double keep = std::min(1.0, static_cast<double>(options.most_examples) /
                                        static_cast<double>(std::max<std::size_t>(1, seen.intervals.size())));
  double due = 0;
  for (const IntervalRecord &interval : seen.intervals) {
    if ((due += keep) < 1) continue;
    due -= 1;
    examples.add(interval);
  }
  data.users = examples.users();
  weigh(data.examples, data.users);
  return data;
}

std::vector<std::string> what_is_missing(const TrainingData &data, const Needs &needs) {
  std::vector<std::string> missing;
  if (data.examples.size() < needs.intervals)
    missing.push_back(fmt::format("{} intervals with a known speed, and it takes {} at least: let jobs declare "
                                  "--harmony-epochs or report progress",
                                  data.examples.size(), needs.intervals));
  std::size_t jobs = 0;
  for (const TrainingCluster &cluster : data.clusters) jobs += cluster.jobs.size();
  if (jobs < needs.runs)
    missing.push_back(fmt::format("{} runs that completed, and it takes {} at least", jobs, needs.runs));
  std::map<std::uint64_t, int> pairs;
  for (const RewardExample &each : data.examples) ++pairs[each.pair];
  std::string unseen;
  std::size_t count = 0;
  for (std::size_t victim = 1; victim <= data.types.size(); ++victim)
    for (std::size_t other = 1; other <= data.types.size(); ++other) {
      if (pairs.count(1 + victim * 1000 + other)) continue;
      if (++count <= 8)
        unseen += fmt::format("{}{} beside {}", count > 1 ? ", " : "", data.types[victim - 1], data.types[other - 1]);
    }
  if (!missing.empty() && count > 0)
    missing.push_back(fmt::format("{} of {} pairs of types never seen: {}{}", count,
                                  data.types.size() * data.types.size(), unseen, count > 8 ? ", ..." : ""));
  return missing;
}

} // namespace harmony
