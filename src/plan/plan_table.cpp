#include "src/plan/plan_table.h"

#include <fmt/format.h>

namespace harmony {
namespace {

PlannedJob &entry(PlanTable &table, std::uint32_t job, const Decision &decision, std::size_t records) {
  const auto [found, fresh] = table.jobs.try_emplace(job);
  PlannedJob &planned = found->second;
  // Of a job array the first decision counts, which is a plan if any copy has one.
  if (!fresh) return planned;
  planned.verdict = decision.verdict;
  planned.wait_until = decision.wait_until;
  planned.records = static_cast<int>(records);
  return planned;
}

void add_copy(PlannedJob &planned, const Plan &plan, int component) {
  std::vector<Placement> mine;
  for (const Placement &each : plan.placements)
    if (each.component == component) mine.push_back(each);
  planned.copies.push_back(std::move(mine));
}

} // namespace

PlanTable make_plan_table(const std::vector<Decision> &decisions,
                          const std::unordered_map<std::uint32_t, std::vector<std::uint32_t>> &components) {
  PlanTable table;
  for (const Decision &decision : decisions) {
    const auto several = components.find(decision.job);
    const std::vector<std::uint32_t> records =
        several != components.end() ? several->second : std::vector<std::uint32_t>{decision.job};
    for (std::size_t i = 0; i < records.size(); ++i) {
      PlannedJob &planned = entry(table, records[i], decision, records.size());
      if (decision.verdict == Verdict::place) add_copy(planned, decision.plan, static_cast<int>(i));
    }
  }
  return table;
}

std::string plan_text(const std::vector<Placement> &placements) {
  std::string text;
  for (const Placement &each : placements)
    text += fmt::format("{}{}={}+{}", text.empty() ? "" : ",", each.node_name, each.workers, each.ps);
  return text;
}

} // namespace harmony
