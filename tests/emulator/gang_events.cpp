#include "tests/emulator/gang_events.h"

#include "src/sim/input/line_reader.h"

#include <fmt/format.h>
#include <json/json.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <sstream>
#include <stdexcept>

namespace harmony {
namespace {

const char *moment_name(GangMoment moment) {
  return moment == GangMoment::start ? "start" : moment == GangMoment::end ? "end" : "lost";
}

Json::Value json_of(const TasksOn &tasks, const EmulatedCluster &cluster) {
  Json::Value json(Json::objectValue);
  json["node"] = cluster.scenario.cluster.nodes[static_cast<std::size_t>(tasks.node)].name;
  json["workers"] = tasks.workers;
  json["ps"] = tasks.ps;
  json["cores"] = tasks.cores;
  json["gpus"] = Json::Value(Json::arrayValue);
  for (const int gpu : each(tasks.gpus)) json["gpus"].append(gpu);
  return json;
}

TasksOn tasks_of(const Json::Value &json, const EmulatedCluster &cluster) {
  TasksOn tasks;
  tasks.node = cluster.node(json["node"].asString());
  if (tasks.node < 0) throw std::runtime_error("a node that is not of the scenario");
  tasks.workers = json["workers"].asInt();
  tasks.ps = json["ps"].asInt();
  tasks.cores = json["cores"].asInt();
  tasks.gpus = Bits(cluster.scenario.cluster.nodes[static_cast<std::size_t>(tasks.node)].free_gpus.size());
  for (const Json::Value &gpu : json["gpus"]) {
    if (gpu.asInt() < 0 || gpu.asInt() >= tasks.gpus.size()) throw std::runtime_error("a GPU that the node has not");
    tasks.gpus.set(gpu.asInt());
  }
  return tasks;
}

GangEvent event_of(const Json::Value &json, const EmulatedCluster &cluster) {
  GangEvent event;
  const std::string name = json["event"].asString();
  for (const GangMoment moment : {GangMoment::start, GangMoment::end, GangMoment::lost})
    if (name == moment_name(moment)) event.moment = moment;
  if (name != moment_name(event.moment)) throw std::runtime_error("no such event");
  event.at_s = json["at"].asDouble();
  event.job = json["job"].asUInt();
  event.slurm_job = json["slurm_job"].asUInt();
  event.run = json["run"].asInt();
  event.where.type = json["type"].asString();
  for (const Json::Value &tasks : json["where"]) {
    event.where.where.push_back(tasks_of(tasks, cluster));
    event.where.workers += event.where.where.back().workers;
    event.where.ps += event.where.where.back().ps;
  }
  return event;
}

} // namespace

GangEventWriter::GangEventWriter(const std::string &path) : path_(path), file_(std::fopen(path.c_str(), "w")) {
  if (!file_) throw std::runtime_error(fmt::format("{}: cannot be written: {}", path, std::strerror(errno)));
}

GangEventWriter::~GangEventWriter() { std::fclose(file_); }

void GangEventWriter::write(const GangEvent &event, const EmulatedCluster &cluster) {
  Json::Value json(Json::objectValue);
  json["event"] = moment_name(event.moment);
  json["at"] = event.at_s;
  json["job"] = event.job;
  json["slurm_job"] = event.slurm_job;
  json["run"] = event.run;
  if (event.moment == GangMoment::start) {
    json["type"] = event.where.type;
    for (const TasksOn &tasks : event.where.where) json["where"].append(json_of(tasks, cluster));
  }
  Json::StreamWriterBuilder builder;
  builder["indentation"] = "";
  const std::string line = Json::writeString(builder, json) + "\n";
  if (std::fputs(line.c_str(), file_) < 0 || std::fflush(file_) != 0)
    throw std::runtime_error(fmt::format("{}: cannot be written: {}", path_, std::strerror(errno)));
}

std::vector<GangEvent> read_gang_events(const std::string &path, const EmulatedCluster &cluster) {
  std::vector<GangEvent> events;
  LineReader lines(path);
  while (lines.next()) {
    Json::Value json;
    std::string problems;
    std::istringstream stream(lines.text());
    if (!Json::parseFromStream(Json::CharReaderBuilder(), stream, &json, &problems) || !json.isObject())
      throw std::runtime_error(fmt::format("{}:{}: no JSON object", path, lines.number()));
    try {
      events.push_back(event_of(json, cluster));
    } catch (const std::exception &wrong) {
      throw std::runtime_error(fmt::format("{}:{}: {}", path, lines.number(), wrong.what()));
    }
  }
  return events;
}

} // namespace harmony
