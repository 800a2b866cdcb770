#include "src/observe/observer.h"

#include "src/plan/cluster.h"
#include "src/publish/compact.h"
#include "src/values/snapshot.h"

#include <algorithm>
#include <utility>

namespace harmony {
namespace {

constexpr std::size_t most_ended_nodes = 20000; // of gangs that are remembered

std::vector<TasksAt::InDomain> domains_of(const Bits &gpus, const Topology *topology) {
  std::vector<TasksAt::InDomain> domains;
  if (!topology) return domains;
  for (const int gpu : each(gpus)) {
    if (static_cast<std::size_t>(gpu) >= topology->gpus.size()) continue;
    const int domain = topology->gpus[static_cast<std::size_t>(gpu)].domain;
    auto at = std::find_if(domains.begin(), domains.end(),
                           [domain](const TasksAt::InDomain &each) { return each.domain == domain; });
    if (at == domains.end()) at = domains.insert(domains.end(), {domain, Bits(gpus.size())});
    at->gpus.set(gpu);
  }
  return domains;
}

// Components of a hetjob may share a node.
void add_to(std::vector<HeldNode> &nodes, const HeldNode &more) {
  const auto same = std::find_if(nodes.begin(), nodes.end(),
                                 [&more](const HeldNode &each) { return each.tasks.node == more.tasks.node; });
  if (same == nodes.end()) {
    nodes.push_back(more);
    return;
  }
  same->tasks.workers += more.tasks.workers;
  same->tasks.ps += more.tasks.ps;
  same->tasks.cores.join(more.tasks.cores);
  same->tasks.gpus.join(more.tasks.gpus);
  same->cores += more.cores;
}

std::vector<std::string> names_of(const std::vector<HeldNode> &nodes) {
  std::vector<std::string> names;
  for (const HeldNode &each : nodes) names.push_back(each.tasks.node);
  return names;
}

NodeState empty_node(const HeldNode &held) {
  NodeState node;
  node.name = held.tasks.node;
  node.topology = held.topology;
  node.free_cores = Bits(std::max(held.node_cores, 0));
  const int known = held.topology ? static_cast<int>(held.topology->gpus.size()) : 0;
  node.free_gpus = Bits(std::max({held.node_gpus, held.tasks.gpus.size(), known}));
  return node;
}

} // namespace

TasksAt tasks_at(const Placement &placement) {
  TasksAt tasks;
  tasks.node = placement.node_name;
  tasks.workers = placement.workers;
  tasks.ps = placement.ps;
  tasks.cores = placement.cores;
  tasks.gpus = placement.gpus;
  return tasks;
}

double Observer::time_of(const Followed &gang, const Moment &now) {
  return gang.at.wall_s + (now.steady_s - gang.at.steady_s);
}

Observer::Ended Observer::what_stays_known(const Followed &gang) {
  Ended known{gang.job.start.id, gang.began, {}};
  for (const HeldNode &node : gang.job.nodes) known.gpus[node.tasks.node] = node.tasks.gpus;
  return known;
}

void Observer::forget(std::uint32_t gang) {
  for (const HeldNode &node : gangs_.at(gang).job.nodes) {
    const auto on = on_node_.find(node.tasks.node);
    if (on == on_node_.end()) continue;
    on->second.erase(gang);
    if (on->second.empty()) on_node_.erase(on);
  }
  gangs_.erase(gang);
}

void Observer::hold(const JobBegan &job, Followed &gang) {
  for (const HeldNode &node : job.nodes) {
    add_to(gang.job.nodes, node);
    on_node_[node.tasks.node].insert(job.start.id.job);
  }
  gang.began.insert(job.record);
  if (job.records > 1) gang.job.start.components.assign(gang.began.begin(), gang.began.end());
  gang.job.managed |= job.managed;
}

void Observer::began(JobBegan job, const Moment &now) {
  const std::uint32_t id = job.start.id.job;
  auto known = gangs_.find(id);
  if (known != gangs_.end()) {
    const bool same_run = known->second.job.start.id == job.start.id;
    if (same_run && known->second.began.count(job.record)) return;
    if (!same_run) { // its end was not seen
      forget(id);
      known = gangs_.end();
    }
  }
  if (known == gangs_.end()) {
    known = gangs_.emplace(id, Followed{}).first;
    known->second.job = job;
    known->second.job.nodes.clear();
    // One that runs already began earlier, by both clocks.
    known->second.at = {job.start.begin_s, now.steady_s - std::max(0.0, now.wall_s - job.start.begin_s)};
  }
  Followed &gang = known->second;
  if (!gang.whole && !gang.began.empty()) { // what became of a hetjob's plan is known with its last component
    job.start.begin_s = gang.job.start.begin_s;
    gang.job.start = job.start;
    gang.job.shadow = job.shadow;
  }
  hold(job, gang);
  if (!gang.whole && static_cast<int>(gang.began.size()) >= gang.job.records) start(gang, now);
  neighbours_changed(names_of(job.nodes), id, now);
}

void Observer::name_nodes(const Followed &gang) {
  for (const HeldNode &node : gang.job.nodes) {
    if (!node.topology) continue;
    Named &named = named_nodes_[node.tasks.node];
    if (named.topology == node.topology) continue;
    named.topology = node.topology;
    std::string compact = compact_form(*node.topology);
    if (compact == named.compact) continue;
    named.compact = std::move(compact);
    put_(NodeRecord{gang.job.start.id.cluster, node.tasks.node, named.compact});
  }
}

void Observer::start(Followed &gang, const Moment &now) {
  gang.whole = true;
  if (!gang.job.managed) return;
  StartRecord &start = gang.job.start;
  std::sort(gang.job.nodes.begin(), gang.job.nodes.end(),
            [](const HeldNode &one, const HeldNode &other) { return one.tasks.node < other.tasks.node; });
  start.workers = start.ps = start.gpus = 0;
  start.placement.clear();
  for (HeldNode &node : gang.job.nodes) {
    node.tasks.domains = domains_of(node.tasks.gpus, node.topology.get());
    start.workers += node.tasks.workers;
    start.ps += node.tasks.ps;
    start.gpus += node.tasks.gpus.count();
    start.placement.push_back(node.tasks);
  }
  begin_interval(gang, start.resumed ? time_of(gang, now) : start.begin_s);
  start.neighbours = gang.neighbours;
  name_nodes(gang);
  put_(start);
  if (!gang.job.shadow) return;
  gang.job.shadow->id = start.id;
  put_(*gang.job.shadow);
}

std::vector<Neighbour> Observer::neighbours_of(const Followed &gang) const {
  std::map<std::uint32_t, Neighbour> found;
  for (const HeldNode &node : gang.job.nodes) {
    const auto on = on_node_.find(node.tasks.node);
    if (on == on_node_.end()) continue;
    for (const std::uint32_t id : on->second) {
      if (id == gang.job.start.id.job) continue;
      const JobBegan &other = gangs_.at(id).job;
      Neighbour &neighbour = found[id];
      neighbour.job = id;
      neighbour.type = other.start.type;
      neighbour.nodes = static_cast<int>(other.nodes.size());
      for (const HeldNode &its : other.nodes)
        if (its.tasks.node == node.tasks.node) {
          TasksAt shared = its.tasks;
          shared.cores = Bits();
          shared.domains = domains_of(shared.gpus, its.topology.get());
          neighbour.on.push_back(std::move(shared));
        }
    }
  }
  std::vector<Neighbour> neighbours;
  for (auto &[id, neighbour] : found) {
    for (const HeldNode &node : gangs_.at(id).job.nodes) {
      neighbour.workers += node.tasks.workers;
      neighbour.ps += node.tasks.ps;
    }
    neighbours.push_back(std::move(neighbour));
  }
  return neighbours;
}

// By the planner's own rule, on a cluster of just the gang's nodes.
InterferenceTerms Observer::terms_of(const Followed &gang) const {
  Snapshot snapshot;
  Plan plan;
  std::map<std::uint32_t, int> running;
  for (const HeldNode &held : gang.job.nodes) {
    NodeState node = empty_node(held);
    Placement placement;
    placement.node = static_cast<int>(snapshot.nodes.size());
    placement.node_name = held.tasks.node;
    placement.workers = held.tasks.workers;
    placement.ps = held.tasks.ps;
    placement.gpus = held.tasks.gpus;
    plan.placements.push_back(std::move(placement));
    for (const std::uint32_t id : on_node_.at(held.tasks.node)) {
      if (id == gang.job.start.id.job) continue;
      const JobBegan &other = gangs_.at(id).job;
      const auto [index, is_new] = running.emplace(id, static_cast<int>(snapshot.running.size()));
      if (is_new) {
        Running job;
        job.job = id;
        job.type = other.start.type;
        job.nodes = static_cast<int>(other.nodes.size());
        snapshot.running.push_back(std::move(job));
      }
      for (const HeldNode &its : other.nodes)
        if (its.tasks.node == held.tasks.node)
          node.tenants.push_back({index->second, its.tasks.workers, its.tasks.ps, its.cores, its.tasks.gpus});
    }
    snapshot.nodes.push_back(std::move(node));
  }
  return interference_terms(Cluster(snapshot), plan);
}

void Observer::begin_interval(Followed &gang, double now_s) {
  gang.since_s = now_s;
  gang.neighbours = neighbours_of(gang);
  gang.terms = terms_of(gang);
}

void Observer::end_interval(Followed &gang, double now_s) {
  if (now_s - gang.since_s < shortest_interval_s_) return;
  const StartRecord &start = gang.job.start;
  IntervalRecord record;
  record.id = start.id;
  record.type = start.type;
  record.workers = start.workers;
  record.ps = start.ps;
  record.nodes = static_cast<int>(gang.job.nodes.size());
  record.begin_s = gang.since_s;
  record.end_s = now_s;
  record.terms = gang.terms;
  record.neighbours = gang.neighbours;
  record.claim = gang.claim;
  if (measure_) measure_(record);
  name_nodes(gang);
  put_(record);
}

void Observer::neighbours_changed(const std::vector<std::string> &nodes, std::uint32_t by, const Moment &now) {
  std::set<std::uint32_t> touched;
  for (const std::string &node : nodes)
    if (const auto on = on_node_.find(node); on != on_node_.end()) touched.insert(on->second.begin(), on->second.end());
  touched.erase(by);
  for (const std::uint32_t id : touched) {
    Followed &gang = gangs_.at(id);
    if (!gang.job.managed || !gang.whole) continue;
    const double now_s = time_of(gang, now);
    end_interval(gang, now_s);
    begin_interval(gang, now_s);
  }
}

bool Observer::claimed(std::uint32_t gang, const Claim &claim) {
  const auto known = gangs_.find(gang);
  if (known == gangs_.end() || !known->second.job.managed) return false;
  const auto is_same = [&claim](const std::optional<Claim> &other) {
    return other && other->at == claim.at && other->epoch == claim.epoch;
  };
  if (is_same(known->second.claim) || is_same(known->second.job.old_claim)) return false;
  known->second.claim = claim;
  return true;
}

void Observer::keep_only(const std::set<std::uint32_t> &records) {
  std::vector<std::uint32_t> gone;
  for (const auto &[id, gang] : gangs_)
    if (std::none_of(gang.began.begin(), gang.began.end(),
                     [&records](std::uint32_t record) { return records.count(record) > 0; }))
      gone.push_back(id);
  for (const std::uint32_t id : gone) forget(id);
}

void Observer::finish(Followed &gang, const Moment &now) {
  if (!gang.job.managed || !gang.whole) return;
  const StartRecord &start = gang.job.start;
  const double now_s = std::max(time_of(gang, now), start.begin_s);
  end_interval(gang, now_s);
  EndRecord end;
  end.id = start.id;
  end.type = start.type;
  end.state = gang.end.state;
  // Slurm counts whole seconds; only nodes that had to be powered up make a difference of more than that.
  constexpr double rounding_s = 2;
  end.begin_s = gang.end.started_s > start.begin_s + rounding_s ? std::min(gang.end.started_s, now_s) : start.begin_s;
  end.end_s = now_s;
  end.elapsed_s = std::max(0.0, now_s - end.begin_s - gang.end.suspended_s);
  end.disturbed = gang.end.suspended_s > 0 || gang.end.resized;
  if (end.state == "COMPLETED" && start.epochs > 0) {
    end.epochs = start.epochs;
    if (end.elapsed_s > 0) end.mean_speed = *end.epochs / end.elapsed_s;
  }
  end.requeues = start.id.run + (gang.end.requeued ? 1 : 0);
  end.exit_code = gang.end.exit_code;
  end.claim = gang.claim;
  put_(end);
}

void Observer::ended(const JobEnded &job, const Moment &now) {
  const auto known = gangs_.find(job.gang);
  if (known == gangs_.end()) return;
  Followed &gang = known->second;
  if (!gang.began.count(job.record) || !gang.ended.insert(job.record).second) return;
  // Of a hetjob the first component has the batch script: what became of it is what became of the gang.
  if (gang.ended.size() == 1 || job.record == job.gang) gang.end = job;
  if (gang.ended.size() < gang.began.size()) return;
  finish(gang, now);
  const std::vector<std::string> nodes = names_of(gang.job.nodes);
  if (gang.job.managed) remember_ended(gang);
  forget(job.gang);
  neighbours_changed(nodes, job.gang, now);
}

void Observer::remember_ended(const Followed &gang) {
  ended_nodes_ += gang.job.nodes.size();
  ended_.push_back(what_stays_known(gang));
  for (; ended_nodes_ > most_ended_nodes; ended_.pop_front()) ended_nodes_ -= ended_.front().gpus.size();
}

// Only of runs that are followed, or were lately; of the node's GPUs only the run's.
bool Observer::used(const StepUsage &usage) {
  Ended known;
  const auto runs = std::find_if(gangs_.begin(), gangs_.end(),
                                 [&usage](const auto &each) { return each.second.began.count(usage.job) > 0; });
  // A requeued job may run again before its nodes have told of the run before; clocks of nodes differ a little.
  constexpr double clocks_differ_s = 30;
  const auto is_of = [&usage](const Followed &gang) {
    return gang.job.managed && static_cast<double>(usage.begin_s) + clocks_differ_s >= gang.job.start.begin_s;
  };
  if (runs != gangs_.end() && is_of(runs->second)) {
    known = what_stays_known(runs->second);
  } else {
    const auto ran = std::find_if(ended_.rbegin(), ended_.rend(),
                                  [&usage](const Ended &each) { return each.records.count(usage.job) > 0; });
    if (ran == ended_.rend()) return false;
    known = *ran;
  }
  const auto gpus = known.gpus.find(usage.node);
  if (gpus == known.gpus.end()) return false;
  UsageRecord record{known.id, usage};
  auto &all = record.usage.gpus;
  all.erase(
      std::remove_if(all.begin(), all.end(), [&gpus](const GpuUsage &each) { return !gpus->second.test(each.gpu); }),
      all.end());
  put_(record);
  return true;
}

void Observer::cut_longer_than(double seconds, const Moment &now) {
  for (auto &[id, gang] : gangs_) {
    if (!gang.job.managed || !gang.whole) continue;
    const double now_s = time_of(gang, now);
    if (now_s - gang.since_s < seconds) continue;
    end_interval(gang, now_s);
    begin_interval(gang, now_s);
  }
}

} // namespace harmony
