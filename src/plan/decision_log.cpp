#include "src/plan/decision_log.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace harmony {
namespace {

struct OnNode {
  std::set<int> gpus;
  int tasks = 0;
};

// Whether the plan's nodes, tasks and GPUs are those that were allocated. Cores are left out: Slurm allocates them in
// CPUs, and may round up to whole cores or sockets.
bool same_place(const Plan &plan, const std::vector<ActualNode> &actual) {
  std::map<std::string, OnNode> planned; // components of a hetjob may share a node
  for (const Placement &placement : plan.placements) {
    OnNode &node = planned[placement.node_name];
    node.tasks += placement.tasks();
    for (int gpu : each(placement.gpus)) node.gpus.insert(gpu);
  }
  std::map<std::string, OnNode> allocated;
  bool tasks_known = true;
  for (const ActualNode &each : actual) {
    OnNode &node = allocated[each.node];
    node.tasks += each.tasks;
    node.gpus.insert(each.gpus.begin(), each.gpus.end());
    tasks_known = tasks_known && each.tasks > 0;
  }
  return !planned.empty() && std::equal(planned.begin(), planned.end(), allocated.begin(), allocated.end(),
                                        [tasks_known](const auto &one, const auto &other) {
                                          return one.first == other.first && one.second.gpus == other.second.gpus &&
                                                 (!tasks_known || one.second.tasks == other.second.tasks);
                                        });
}

bool has_started(const DecisionRecord &record) { return !record.actual.empty(); }

} // namespace

void DecisionLog::set_limit(int jobs) {
  const std::lock_guard<std::mutex> lock(mutex_);
  limit_ = static_cast<std::size_t>(std::max(jobs, 0));
  drop_oldest();
}

void DecisionLog::decided(Decision decision) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = by_job_.find(decision.job);
  if (found != by_job_.end() && has_started(*found->second) && decision.decided <= found->second->outcome_at) return;

  DecisionRecord &record = touched_or_new(decision.job);
  if (has_started(record)) {
    record = DecisionRecord();
    record.decision.job = decision.job;
  }
  const bool another_copy = record.decisions > 0 && record.decision.round == decision.round;
  if (record.decisions == 0) record.first_decided = decision.decided;
  if (!another_copy) ++record.decisions;
  if (!another_copy || record.decision.verdict != Verdict::place) {
    record.decision = std::move(decision);
    record.outcome = Outcome::pending;
    record.outcome_at = 0;
    record.outcome_text.clear();
  }
  drop_oldest();
}

bool DecisionLog::outcome(std::uint32_t job, Outcome outcome, std::time_t at, std::string text) {
  const std::lock_guard<std::mutex> lock(mutex_);
  DecisionRecord *record = touched(job);
  if (!record) return false;
  if (has_started(*record) && (outcome == Outcome::pending || outcome == Outcome::stale)) return true;
  record->outcome = outcome;
  record->outcome_at = at;
  record->outcome_text = std::move(text);
  return true;
}

bool DecisionLog::started(std::uint32_t job, std::time_t at, std::vector<ActualNode> actual, std::string text) {
  const std::lock_guard<std::mutex> lock(mutex_);
  DecisionRecord *record = touched(job);
  if (!record) return false;
  record->same_as_plan = same_place(record->decision.plan, actual);
  record->actual = std::move(actual);
  record->outcome_at = at;
  if (text.empty() && record->outcome == Outcome::stock) return true;
  const bool used = text.empty() && record->same_as_plan;
  record->outcome = used ? Outcome::used : Outcome::stock;
  record->outcome_text = std::move(text);
  return true;
}

bool DecisionLog::copy_as(std::uint32_t from, std::uint32_t to, const Plan *used) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = by_job_.find(from);
  if (found == by_job_.end()) return false;
  DecisionRecord copy = *found->second; // before `to` is made, which may be the same job
  copy.decision.job = to;
  if (used) copy.decision.plan = *used;
  touched_or_new(to) = std::move(copy);
  drop_oldest();
  return true;
}

std::optional<DecisionRecord> DecisionLog::find(std::uint32_t job) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = by_job_.find(job);
  if (found == by_job_.end()) return std::nullopt;
  return *found->second;
}

std::size_t DecisionLog::size() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return records_.size();
}

DecisionRecord *DecisionLog::touched(std::uint32_t job) {
  const auto found = by_job_.find(job);
  if (found == by_job_.end()) return nullptr;
  records_.splice(records_.end(), records_, found->second);
  return &*found->second;
}

DecisionRecord &DecisionLog::touched_or_new(std::uint32_t job) {
  if (DecisionRecord *known = touched(job)) return *known;
  Records made(1); // linked in once the map has it: an allocation that fails must not leave one without the other
  made.back().decision.job = job;
  by_job_.emplace(job, made.begin());
  records_.splice(records_.end(), made);
  return records_.back();
}

void DecisionLog::drop_oldest() {
  while (records_.size() > limit_) {
    by_job_.erase(records_.front().decision.job);
    records_.pop_front();
  }
}

} // namespace harmony
