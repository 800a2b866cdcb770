#include "src/sim/input/sacct_timeline.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

namespace harmony {
namespace {

using RunIndex = std::size_t;

struct Event {
  double at_s = 0;
  bool is_start = false; // ends come first: the next job has the nodes then
  RunIndex run = 0;

  bool operator<(const Event &other) const {
    return std::tie(at_s, is_start, run) < std::tie(other.at_s, other.is_start, other.run);
  }
};

class Timeline {
public:
  Timeline(std::vector<SacctRun> &runs, const std::function<void(const Record &)> &tell) : runs_(runs), tell_(tell) {}

  void tell() {
    const std::vector<Event> events = in_order();
    for (auto from = events.begin(); from != events.end();) {
      const auto to = std::find_if(from, events.end(), [from](const Event &each) { return each.at_s != from->at_s; });
      at_once(from, to);
      from = to;
    }
  }

private:
  using Node = std::pair<std::string, std::string>; // cluster and name
  using Events = std::vector<Event>::const_iterator;

  std::vector<Event> in_order() const {
    std::vector<Event> events;
    for (RunIndex i = 0; i < runs_.size(); ++i) {
      events.push_back({runs_[i].start.begin_s, true, i});
      if (runs_[i].has_ended) events.push_back({runs_[i].end.end_s, false, i});
    }
    std::sort(events.begin(), events.end());
    return events;
  }

  // All that happens at one moment, so that no interval is without length.
  void at_once(Events from, Events to) {
    std::set<RunIndex> touched;
    for (auto each = from; each != to; ++each)
      for (const TasksAt &tasks : runs_[each->run].start.placement) {
        const std::set<RunIndex> &there = on_node_[node(each->run, tasks)];
        touched.insert(there.begin(), there.end());
      }
    for (const RunIndex run : touched) end_interval(run, from->at_s);
    for (auto each = from; each != to; ++each)
      if (!each->is_start) leave(each->run);
    for (auto each = from; each != to; ++each)
      if (each->is_start) enter(each->run);
    for (auto each = from; each != to; ++each)
      if (each->is_start && runs_[each->run].is_gang) {
        StartRecord &start = runs_[each->run].start;
        start.neighbours = neighbours(each->run);
        tell_(start);
      }
  }

  Node node(RunIndex run, const TasksAt &tasks) const { return {runs_[run].start.id.cluster, tasks.node}; }

  void enter(RunIndex run) {
    for (const TasksAt &tasks : runs_[run].start.placement) on_node_[node(run, tasks)].insert(run);
    since_s_[run] = runs_[run].start.begin_s;
  }

  void leave(RunIndex run) {
    for (const TasksAt &tasks : runs_[run].start.placement) {
      const auto found = on_node_.find(node(run, tasks));
      if (found == on_node_.end()) continue; // a node that stands twice in the list
      found->second.erase(run);
      if (found->second.empty()) on_node_.erase(found);
    }
    since_s_.erase(run);
    if (runs_[run].is_gang) tell_(runs_[run].end);
  }

  void end_interval(RunIndex run, double now_s) {
    double &since = since_s_.at(run);
    const SacctRun &mine = runs_[run];
    if (mine.is_gang && since < now_s) {
      IntervalRecord interval;
      interval.id = mine.start.id;
      interval.type = mine.start.type;
      interval.workers = mine.start.workers;
      interval.ps = mine.start.ps;
      interval.nodes = static_cast<int>(mine.start.placement.size());
      interval.begin_s = since;
      interval.end_s = now_s;
      interval.neighbours = neighbours(run);
      interval.terms = terms(interval);
      tell_(interval);
    }
    since = now_s;
  }

  std::vector<Neighbour> neighbours(RunIndex run) const {
    std::map<RunIndex, Neighbour> found;
    for (const TasksAt &mine : runs_[run].start.placement) {
      const auto there = on_node_.find(node(run, mine));
      if (there == on_node_.end()) continue;
      for (const RunIndex other : there->second)
        if (other != run) share(found[other], runs_[other].start, mine.node);
    }
    std::vector<Neighbour> all;
    for (auto &each : found) all.push_back(std::move(each.second));
    return all;
  }

  static void share(Neighbour &neighbour, const StartRecord &its, const std::string &node) {
    neighbour.job = its.id.job;
    neighbour.type = its.type;
    neighbour.workers = its.workers;
    neighbour.ps = its.ps;
    neighbour.nodes = static_cast<int>(its.placement.size());
    for (const TasksAt &tasks : its.placement)
      if (tasks.node == node) neighbour.on.push_back(tasks);
  }

  // Those that can be told without knowing which GPUs and cores they had.
  static InterferenceTerms terms(const IntervalRecord &interval) {
    InterferenceTerms known;
    InterferenceRates all_of_it;
    all_of_it.across_nodes = 1;
    known.across_nodes = 1 - speed_alone(interval.nodes, all_of_it);
    if (interval.nodes < 2) return known;
    std::map<std::string, double> distributed;
    for (const Neighbour &neighbour : interval.neighbours)
      for (const TasksAt &tasks : neighbour.on)
        if (neighbour.nodes > 1) known.same_nic = std::max(known.same_nic, ++distributed[tasks.node]);
    return known;
  }

  std::vector<SacctRun> &runs_;
  const std::function<void(const Record &)> &tell_;
  std::map<Node, std::set<RunIndex>> on_node_;
  std::map<RunIndex, double> since_s_; // of those that run
};

} // namespace

void tell_in_order(std::vector<SacctRun> runs, const std::function<void(const Record &)> &tell) {
  Timeline(runs, tell).tell();
}

} // namespace harmony
