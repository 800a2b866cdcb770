#include "src/tool/status.h"

#include <fmt/format.h>
#include <json/json.h>

#include <iterator>
#include <sstream>
#include <string_view>

namespace harmony {
namespace {

std::string fact(const ControllerReport &report, const std::string &name) {
  const auto found = report.harmony.find(name);
  return found == report.harmony.end() ? std::string() : found->second;
}

bool lists(const std::string &plugin_dir, const std::string &directory) {
  std::istringstream entries(plugin_dir);
  for (std::string entry; std::getline(entries, entry, ':');)
    if (entry == directory) return true;
  return false;
}

std::string why_not_loaded(const ControllerReport &report, const std::string &our_dir, const std::string &built_for) {
  if (report.slurm_version != built_for)
    return fmt::format("slurmctld is Slurm {}, this build is for {}: Slurm takes its own plugins then; build for {}",
                       report.slurm_version, built_for, report.slurm_version);
  if (!lists(report.plugin_dir, our_dir))
    return fmt::format("PluginDir={} does not list {}; put it first and restart slurmctld", report.plugin_dir, our_dir);
  return fmt::format(
      "PluginDir lists {}, but slurmctld runs its own plugins: it was not restarted since, or its log says why",
      our_dir);
}

const char *health_name(Health health) {
  switch (health) {
  case Health::good: return "good";
  case Health::not_loaded: return "not-loaded";
  case Health::degraded: return "degraded";
  case Health::no_answer: break;
  }
  return "no-answer";
}

} // namespace

Status judge(const ControllerReport &report, const std::string &our_dir, const std::string &built_for) {
  if (!report.answered) return {Health::no_answer, fmt::format("slurmctld does not answer: {}", report.problem)};
  if (report.harmony.empty()) return {Health::not_loaded, why_not_loaded(report, our_dir, built_for)};
  if (fact(report, "HarmonySched") != "loaded")
    return {Health::not_loaded,
            "select_cons_tres.so is ours, sched_backfill.so is not: is SchedulerType=sched/backfill, and were "
            "both files installed from one build?"};
  const std::string engine = fact(report, "HarmonyEngine");
  if (engine != "loaded" && engine != "not needed")
    return {Health::degraded, fmt::format("everything is left to stock; the engine is {}", engine)};
  return {Health::good, ""};
}

std::string status_text(const ControllerReport &report, const Status &status) {
  std::string text;
  const auto line = [&text](std::string_view name, std::string_view value) {
    fmt::format_to(std::back_inserter(text), "{:<12}{}\n", name, value);
  };
  if (report.answered) line("slurmctld", fmt::format("{} (Slurm {})", report.host, report.slurm_version));
  if (!report.harmony.empty()) {
    line("overlay",
         fmt::format("{}, built for Slurm {}", fact(report, "HarmonyVersion"), fact(report, "HarmonyBuiltFor")));
    line("select", fmt::format("loaded, in front of {}", fact(report, "HarmonySelect")));
    line("sched", fact(report, "HarmonySched"));
    line("mode", fact(report, "HarmonyMode"));
    line("engine", fact(report, "HarmonyEngine"));
    if (const std::string tests = fact(report, "HarmonyJobTests"); !tests.empty())
      line("job_test", fmt::format("{} seen, {} exceptions stopped", tests, fact(report, "HarmonyExceptions")));
    if (const std::string topology = fact(report, "HarmonyTopology"); !topology.empty()) line("topology", topology);
  } else if (report.answered) {
    line("overlay", "NOT LOADED");
  }
  if (!status.advice.empty()) line("problem", status.advice);
  return text;
}

std::string status_json(const ControllerReport &report, const Status &status) {
  Json::Value root;
  root["health"] = health_name(status.health);
  root["problem"] = status.advice;
  root["slurmctld"]["answered"] = report.answered;
  root["slurmctld"]["host"] = report.host;
  root["slurmctld"]["version"] = report.slurm_version;
  root["slurmctld"]["plugin_dir"] = report.plugin_dir;
  root["overlay"] = Json::objectValue;
  for (const auto &[name, value] : report.harmony) root["overlay"][name] = value;
  Json::StreamWriterBuilder writer;
  writer["indentation"] = "  ";
  return Json::writeString(writer, root) + "\n";
}

} // namespace harmony
