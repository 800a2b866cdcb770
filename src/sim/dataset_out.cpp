#include "src/sim/dataset_out.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <stdexcept>
#include <variant>

namespace harmony {
namespace {

std::string file_of(const std::string &directory, std::string name) {
  std::error_code problem;
  std::filesystem::create_directories(directory, problem);
  if (problem) throw std::runtime_error(fmt::format("{}: {}", directory, problem.message()));
  std::replace(name.begin(), name.end(), '/', '_');
  return fmt::format("{}/{}.jsonl", directory, name);
}

Moment moment(double now) { return {now, now}; }

HeldNode held_node(const Placement &placement, const Snapshot &snapshot) {
  const NodeState &node = snapshot.nodes[static_cast<std::size_t>(placement.node)];
  HeldNode held;
  held.tasks = tasks_at(placement);
  held.cores = placement.cores.count();
  held.node_cores = node.free_cores.size();
  held.node_gpus = node.free_gpus.size();
  held.topology = node.topology;
  return held;
}

} // namespace

DatasetOut::DatasetOut(const std::string &directory, const std::string &name, std::string policy)
    : path_(file_of(directory, name)), name_(name), policy_(std::move(policy)), file_(path_),
      observer_([this](const Record &record) { write(record); }, 1e-3,
                [this](IntervalRecord &record) { measure(record); }) {
  if (!file_) throw std::runtime_error(fmt::format("{}: cannot be written", path_));
}

void DatasetOut::measure(IntervalRecord &record) {
  Measured &measured = measured_[record.id.job];
  record.epochs = measured.epochs + measured.speed * (record.end_s - measured.since);
  record.relative_speed = *record.epochs / (record.end_s - record.begin_s) / measured.best;
  measured.all_epochs += *record.epochs;
  measured.epochs = 0;
  measured.since = record.end_s;
}

void DatasetOut::write(const Record &record) {
  if (const auto *end = std::get_if<EndRecord>(&record)) { // here epochs are known, declared or not
    EndRecord known = *end;
    known.epochs = measured_[known.id.job].all_epochs;
    if (known.elapsed_s > 0) known.mean_speed = *known.epochs / known.elapsed_s;
    file_ << to_line(known) << '\n';
    return;
  }
  file_ << to_line(record) << '\n';
}

void DatasetOut::started(const SimJob &job, const Gang &gang, const Plan &plan, const Snapshot &snapshot, double now,
                         double speed, double best) {
  measured_[job.id] = {speed, best, now, 0, 0};
  JobBegan began;
  began.record = job.id;
  began.managed = true;
  StartRecord &start = began.start;
  start.id = {name_, job.id, 0};
  start.type = job.type;
  start.epochs = gang.epochs;
  start.model_kb = gang.model_kb;
  start.cpus_per_task = job.cpus_per_worker;
  start.time_limit_min = gang.time_limit_min;
  start.policy = policy_;
  start.by_plan = policy_ != "stock";
  if (!start.by_plan) start.why_stock = "policy stock";
  start.submit_s = job.submit_s;
  start.begin_s = now;
  for (const Placement &placement : plan.placements) began.nodes.push_back(held_node(placement, snapshot));
  observer_.began(std::move(began), moment(now));
}

// Intervals end when neighbours come or go, which the observer sees by itself; here only the speed is kept.
void DatasetOut::went(const SimJob &job, const Progress::Change &change, const Snapshot &, double now, bool ended) {
  Measured &measured = measured_[job.id];
  if (!ended) {
    measured.epochs += measured.speed * (now - measured.since);
    measured.since = now;
    measured.speed = change.after;
    return;
  }
  JobEnded end;
  end.gang = end.record = job.id;
  end.state = "COMPLETED";
  observer_.ended(end, moment(now));
  measured_.erase(job.id);
}

void DatasetOut::close() {
  file_.close();
  if (!file_) throw std::runtime_error(fmt::format("{}: could not be written to its end", path_));
}

} // namespace harmony
