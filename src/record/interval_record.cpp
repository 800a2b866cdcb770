#include "src/record/interval_record.h"

#include "src/show/json_line.h"

#include <fmt/format.h>
#include <json/json.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <memory>
#include <stdexcept>

namespace harmony {
namespace {

constexpr std::size_t longest_line = 1 << 20;

double number(const Json::Value &value, const char *key, double least, double most) {
  const Json::Value &found = value[key];
  if (!found.isNumeric() || !std::isfinite(found.asDouble()) || found.asDouble() < least || found.asDouble() > most)
    throw std::runtime_error(fmt::format("{} is no number from {} to {}", key, least, most));
  return found.asDouble();
}

int count(const Json::Value &value, const char *key) { return static_cast<int>(number(value, key, 0, 1e6)); }

IntervalRecord of_json(const Json::Value &value) {
  IntervalRecord record;
  record.job = static_cast<std::uint32_t>(number(value, "job", 0, 4294967295.0));
  if (!value["type"].isString()) throw std::runtime_error("type is no text");
  record.type = value["type"].asString();
  record.workers = count(value, "workers");
  record.ps = count(value, "ps");
  record.nodes = count(value, "nodes");
  record.begin_s = number(value, "begin_s", -1e12, 1e12);
  record.end_s = number(value, "end_s", record.begin_s, 1e12);
  record.epochs = number(value, "epochs", 0, 1e12);
  record.relative_speed = number(value, "relative_speed", 0, 100);
  const Json::Value &terms = value["terms"];
  if (!terms.isObject()) throw std::runtime_error("terms is no object");
  record.terms.same_domain = number(terms, "same_domain", 0, 1e6);
  record.terms.same_socket = number(terms, "same_socket", 0, 1e6);
  record.terms.same_nic = number(terms, "same_nic", 0, 1e6);
  record.terms.cores = number(terms, "cores", 0, 1e6);
  record.terms.across_nodes = number(terms, "across_nodes", 0, 1e6);
  return record;
}

void read_file(const std::string &path, std::vector<IntervalRecord> &into) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error(fmt::format("{}: cannot be read", path));
  const Json::CharReaderBuilder builder;
  const std::unique_ptr<Json::CharReader> reader(builder.newCharReader());
  std::string line;
  for (int number = 1; std::getline(file, line); ++number) {
    Json::Value value;
    std::string problem;
    try {
      if (line.size() > longest_line) throw std::runtime_error("the line is too long");
      if (!reader->parse(line.data(), line.data() + line.size(), &value, &problem) || !value.isObject())
        throw std::runtime_error("no JSON object");
      if (value["record"] == "interval") into.push_back(of_json(value));
    } catch (const std::exception &wrong) {
      throw std::runtime_error(fmt::format("{}:{}: {}", path, number, wrong.what()));
    }
  }
}

} // namespace

std::string to_line(const IntervalRecord &record) {
  Json::Value value;
  value["schema"] = dataset_schema;
  value["record"] = "interval";
  value["job"] = record.job;
  value["type"] = record.type;
  value["workers"] = record.workers;
  value["ps"] = record.ps;
  value["nodes"] = record.nodes;
  value["begin_s"] = record.begin_s;
  value["end_s"] = record.end_s;
  value["epochs"] = record.epochs;
  value["relative_speed"] = record.relative_speed;
  Json::Value &terms = value["terms"];
  terms["same_domain"] = record.terms.same_domain;
  terms["same_socket"] = record.terms.same_socket;
  terms["same_nic"] = record.terms.same_nic;
  terms["cores"] = record.terms.cores;
  terms["across_nodes"] = record.terms.across_nodes;
  return json_line(value);
}

std::vector<IntervalRecord> read_intervals(const std::string &directory) {
  std::vector<std::string> paths;
  std::error_code problem;
  for (const auto &entry : std::filesystem::directory_iterator(directory, problem))
    if (entry.path().extension() == ".jsonl") paths.push_back(entry.path().string());
  if (problem) throw std::runtime_error(fmt::format("{}: {}", directory, problem.message()));
  if (paths.empty()) throw std::runtime_error(fmt::format("{}: no *.jsonl file there", directory));
  std::sort(paths.begin(), paths.end());
  std::vector<IntervalRecord> records;
  for (const std::string &path : paths) read_file(path, records);
  return records;
}

} // namespace harmony
