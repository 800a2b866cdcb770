#include "src/sim/dataset_out.h"

#include "src/plan/place.h"
#include "src/show/decision_json.h"
#include "src/show/json_line.h"
#include "src/sim/floor.h"

#include <fmt/format.h>
#include <json/json.h>

#include <algorithm>
#include <filesystem>
#include <stdexcept>

namespace harmony {
namespace {

std::string file_of(const std::string &directory, std::string name) {
  std::error_code problem;
  std::filesystem::create_directories(directory, problem);
  if (problem) throw std::runtime_error(fmt::format("{}: {}", directory, problem.message()));
  std::replace(name.begin(), name.end(), '/', '_');
  return fmt::format("{}/{}.jsonl", directory, name);
}

InterferenceTerms terms_of(const Snapshot &snapshot, std::uint32_t job, const Plan &plan) {
  const Cluster cluster(snapshot);
  return interference_terms(cluster, plan, running_index(snapshot, job));
}

Json::Value placement_json(const Placement &placement) {
  Json::Value value;
  value["node"] = placement.node_name;
  value["workers"] = placement.workers;
  value["ps"] = placement.ps;
  value["cores"] = number_list(placement.cores);
  value["gpus"] = number_list(placement.gpus);
  return value;
}

} // namespace

DatasetOut::DatasetOut(const std::string &directory, const std::string &name, std::string policy)
    : path_(file_of(directory, name)), policy_(std::move(policy)), file_(path_) {
  if (!file_) throw std::runtime_error(fmt::format("{}: cannot be written", path_));
}

void DatasetOut::write(const std::string &line) { file_ << line << '\n'; }

void DatasetOut::end_interval(Known &known, double now) {
  if (now <= known.since) return;
  IntervalRecord record;
  record.job = known.job.id;
  record.type = known.job.type;
  record.workers = known.job.workers;
  record.ps = known.job.ps;
  record.nodes = static_cast<int>(nodes_of(known.plan).size());
  record.begin_s = known.since;
  record.end_s = now;
  record.epochs = known.speed * (now - known.since);
  record.relative_speed = known.speed / known.best;
  record.terms = known.terms;
  known.epochs += record.epochs;
  write(to_line(record));
}

void DatasetOut::begin_interval(Known &known, const Snapshot &snapshot, double now) {
  known.since = now;
  known.terms = terms_of(snapshot, known.job.id, known.plan);
}

// Somebody came or went on these nodes: also for those whose speed stays as it is that is another interval, or only
// neighbours that hurt would ever be seen.
void DatasetOut::neighbours_changed(const Plan &plan, const Snapshot &snapshot, double now) {
  for (const int node : nodes_of(plan))
    for (const Tenant &tenant : snapshot.nodes[static_cast<std::size_t>(node)].tenants) {
      const auto at = known_.find(snapshot.running[static_cast<std::size_t>(tenant.running)].job);
      if (at == known_.end() || at->second.since == now) continue;
      end_interval(at->second, now);
      begin_interval(at->second, snapshot, now);
    }
}

void DatasetOut::started(const SimJob &job, const Gang &gang, const Plan &plan, const Snapshot &snapshot, double now,
                         double speed) {
  Known &known = known_[job.id];
  known.job = job;
  known.plan = plan;
  known.started = now;
  known.speed = speed;
  begin_interval(known, snapshot, now);
  neighbours_changed(plan, snapshot, now);
  Json::Value value;
  value["schema"] = dataset_schema;
  value["record"] = "start";
  value["job"] = job.id;
  value["type"] = job.type;
  value["workers"] = job.workers;
  value["ps"] = job.ps;
  value["gpus"] = job.gpus();
  value["epochs"] = gang.epochs;
  value["model_kb"] = gang.model_kb;
  value["policy"] = policy_;
  value["submit_s"] = job.submit_s;
  value["begin_s"] = now;
  for (const Placement &placement : plan.placements) value["placement"].append(placement_json(placement));
  write(json_line(value));
}

void DatasetOut::went(const SimJob &job, const Progress::Change &change, const Snapshot &snapshot, double now,
                      bool ended) {
  Known &known = known_[job.id];
  known.best = change.speed / change.relative;
  end_interval(known, now);
  known.speed = change.after;
  if (!ended) return begin_interval(known, snapshot, now);
  Json::Value value;
  value["schema"] = dataset_schema;
  value["record"] = "end";
  value["job"] = job.id;
  value["type"] = job.type;
  value["state"] = "COMPLETED";
  value["end_s"] = now;
  value["elapsed_s"] = now - known.started;
  value["epochs"] = known.epochs;
  write(json_line(value));
  const Plan plan = std::move(known.plan);
  known_.erase(job.id);
  neighbours_changed(plan, snapshot, now);
}

void DatasetOut::close() {
  file_.close();
  if (!file_) throw std::runtime_error(fmt::format("{}: could not be written to its end", path_));
}

} // namespace harmony
