// What the texts of `harmony status` have in common: facts by name, and the words for them.
#pragma once

#include "src/tool/status.h"
#include "src/values/statistics.h"

#include <string>
#include <string_view>

namespace harmony {

inline std::string fact(const ControllerReport &report, const std::string &name) {
  const auto found = report.harmony.find(name);
  return found == report.harmony.end() ? std::string() : found->second;
}

inline const char *health_name(Health health) {
  switch (health) {
  case Health::good: return "good";
  case Health::not_loaded: return "not-loaded";
  case Health::degraded: return "degraded";
  case Health::no_answer: break;
  }
  return "no-answer";
}

// Steps in the order of a round.
constexpr const char *timing_order[] = {"lock", "snapshot", "plan", "publish", "round", "job_test", "observe"};
constexpr const char *model_timing_order[] = {"encode", "inference", "propose"};

constexpr const char *statistics_fact = "HarmonyStatistics";

inline bool has_statistics(const ControllerReport &report) { return report.harmony.count(statistics_fact) != 0; }

inline bool begins_with(std::string_view text, std::string_view start) { return text.substr(0, start.size()) == start; }

inline bool is_learned(const StatisticsReport &statistics) { return statistics.facts.policy == "learned"; }

inline bool has_model(const StatisticsFacts &facts) { return !facts.model.empty() && facts.model != "none"; }

} // namespace harmony
