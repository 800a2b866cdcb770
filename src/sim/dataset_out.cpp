#include "src/sim/dataset_out.h"

#include "src/plan/place.h"
#include "src/show/decision_json.h"
#include "src/show/json_line.h"

#include <fmt/format.h>
#include <json/json.h>

#include <algorithm>
#include <filesystem>
#include <stdexcept>

namespace harmony {
namespace {

std::string file_of(const std::string &directory, const std::string &policy, std::uint64_t seed) {
  std::error_code problem;
  std::filesystem::create_directories(directory, problem);
  if (problem) throw std::runtime_error(fmt::format("{}: {}", directory, problem.message()));
  return fmt::format("{}/{}-{}.jsonl", directory, policy, seed);
}

int running_index(const Snapshot &snapshot, std::uint32_t job) {
  const auto at = std::find_if(snapshot.running.begin(), snapshot.running.end(),
                               [job](const Running &each) { return each.job == job; });
  return at == snapshot.running.end() ? -1 : static_cast<int>(at - snapshot.running.begin());
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

DatasetOut::DatasetOut(const std::string &directory, std::string policy, std::uint64_t seed)
    : path_(file_of(directory, policy, seed)), policy_(std::move(policy)), file_(path_) {
  if (!file_) throw std::runtime_error(fmt::format("{}: cannot be written", path_));
}

void DatasetOut::write(const std::string &line) { file_ << line << '\n'; }

void DatasetOut::started(const SimJob &job, const Gang &gang, const Plan &plan, const Snapshot &snapshot, double now) {
  known_[job.id] = {plan, now, 0, terms_of(snapshot, job.id, plan)};
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
  IntervalRecord record;
  record.job = job.id;
  record.type = job.type;
  record.workers = job.workers;
  record.ps = job.ps;
  record.nodes = static_cast<int>(nodes_of(known.plan).size());
  record.begin_s = change.since;
  record.end_s = now;
  record.epochs = change.epochs;
  record.relative_speed = change.relative;
  record.terms = known.terms;
  known.epochs += change.epochs;
  if (now > change.since) write(to_line(record));
  if (!ended) {
    known.terms = terms_of(snapshot, job.id, known.plan);
    return;
  }
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
  known_.erase(job.id);
}

void DatasetOut::close() {
  file_.close();
  if (!file_) throw std::runtime_error(fmt::format("{}: could not be written to its end", path_));
}

} // namespace harmony
