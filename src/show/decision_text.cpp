#include "src/show/decision_text.h"

#include "src/show/decision_json.h"
#include "src/values/local_time.h"
#include "src/values/printable.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <string_view>

namespace harmony {
namespace {

constexpr std::size_t most_rows = 40;
constexpr std::size_t most_characters = 300; // of one text

std::string shown(const std::string &text) { return one_line(text, most_characters); }

std::string time_text(std::time_t time) {
  const std::string text = time <= 0 ? "" : local_time(time);
  return text.empty() ? "an unknown time" : text;
}

std::string counted(int count, const char *what) { return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s"); }

// Paragraphs with their names in front; further lines of a paragraph are indented as far.
class Page {
public:
  void add(std::string_view name, std::string_view value) {
    fmt::format_to(std::back_inserter(text_), "{:<11} {}\n", name, value);
  }

  void add(std::string_view name, const std::vector<std::string> &lines) {
    for (std::size_t i = 0; i < lines.size() && i < most_rows; ++i) add(i == 0 ? name : "", lines[i]);
    if (lines.size() > most_rows)
      add("", fmt::format("... and {} more; --json has them all", lines.size() - most_rows));
  }

  const std::string &text() const { return text_; }

private:
  std::string text_;
};

// As wide as the longest of each column; numbers to the right.
struct Column {
  const char *head;
  bool number;
};
std::vector<std::string> table(const std::vector<Column> &columns, const std::vector<std::vector<std::string>> &rows) {
  std::vector<std::size_t> widths;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    widths.push_back(std::string_view(columns[i].head).size());
    for (const auto &row : rows) widths[i] = std::max(widths[i], row[i].size());
  }
  std::vector<std::string> lines;
  const auto add = [&](const auto &cell) {
    std::string line;
    for (std::size_t i = 0; i < columns.size(); ++i)
      line +=
          columns[i].number ? fmt::format("{:>{}}  ", cell(i), widths[i]) : fmt::format("{:<{}}  ", cell(i), widths[i]);
    lines.push_back(line.substr(0, line.find_last_not_of(' ') + 1));
  };
  add([&](std::size_t i) { return std::string(columns[i].head); });
  for (const auto &row : rows) add([&](std::size_t i) { return row[i]; });
  return lines;
}

std::string or_none(const std::string &list) { return list.empty() ? "-" : list; }

std::vector<std::string> plan_table(const Plan &plan) {
  const bool hetjob = std::any_of(plan.placements.begin(), plan.placements.end(),
                                  [](const Placement &placement) { return placement.component > 0; });
  std::vector<Column> columns = {{"NODE", false}, {"WORKERS", true}, {"PS", true}, {"GPUS", false}, {"CORES", false}};
  if (hetjob) columns.insert(columns.begin(), {"COMPONENT", true});
  std::vector<std::vector<std::string>> rows;
  for (const Placement &placement : plan.placements) {
    rows.push_back({shown(placement.node_name), std::to_string(placement.workers), std::to_string(placement.ps),
                    or_none(number_list(placement.gpus)), or_none(number_list(placement.cores))});
    if (hetjob) rows.back().insert(rows.back().begin(), std::to_string(placement.component));
  }
  return table(columns, rows);
}

std::vector<std::string> actual_table(const std::vector<ActualNode> &actual) {
  std::vector<std::vector<std::string>> rows;
  for (const ActualNode &node : actual)
    rows.push_back({shown(node.node), node.tasks > 0 ? std::to_string(node.tasks) : "-",
                    or_none(number_list(node.gpus)), std::to_string(node.cpus)});
  return table({{"NODE", false}, {"TASKS", true}, {"GPUS", false}, {"CPUS", true}}, rows);
}

std::string verdict_text(const Decision &decision) {
  std::string verdict = verdict_name(decision.verdict);
  std::replace(verdict.begin(), verdict.end(), '_', ' ');
  return decision.reason.empty() ? verdict : verdict + ": " + shown(decision.reason);
}

std::string decided_text(const DecisionRecord &record) {
  const Decision &decision = record.decision;
  std::string text =
      fmt::format("{} by policy {}, round {}", time_text(decision.decided), shown(decision.policy), decision.round);
  if (record.decisions > 1)
    text += fmt::format("; {} times in all since {}", record.decisions, time_text(record.first_decided));
  return text;
}

std::string outcome_text(const DecisionRecord &record) {
  const std::string when = record.outcome_at > 0 ? time_text(record.outcome_at) + ": " : "";
  const std::string why = record.outcome_text.empty() ? "" : "; " + shown(record.outcome_text);
  switch (record.outcome) {
  case Outcome::used: return when + "started as planned" + why;
  case Outcome::stale: return when + "the plan was dropped, planning anew" + why;
  case Outcome::pending: return when + "not started yet" + why;
  case Outcome::stock: break;
  }
  if (record.actual.empty()) return when + "left to stock" + why;
  return when + "stock chose the place" + (record.same_as_plan ? ", the same as planned" : "") + why;
}

std::string speed_text(double speed) {
  constexpr const char *by = "(linear interference rule)";
  if (!std::isfinite(speed)) return "not known";
  const int slower = static_cast<int>(std::lround((1 - std::clamp(speed, 0.0, 1.0)) * 100));
  if (slower == 0) return fmt::format("as fast as alone {}", by);
  return fmt::format("about {} % slower than alone {}", slower, by);
}

std::vector<std::string> candidate_table(const std::vector<Candidate> &candidates) {
  std::vector<std::vector<std::string>> rows;
  for (const Candidate &candidate : candidates)
    rows.push_back({std::isfinite(candidate.score) ? fmt::format("{:.4g}", candidate.score) : "-",
                    shown(candidate.nodes), shown(candidate.why)});
  return table({{"SCORE", true}, {"NODES (workers+PS)", false}, {"WHY", false}}, rows);
}

} // namespace

std::string decision_text(const DecisionRecord &record) {
  const Decision &decision = record.decision;
  Page page;
  page.add(fmt::format("job {}", decision.job), verdict_text(decision));
  if (decision.verdict == Verdict::wait && decision.wait_until > 0)
    page.add("waits",
             fmt::format("until {} at the latest; then it starts wherever it fits", time_text(decision.wait_until)));
  page.add("outcome", outcome_text(record));
  page.add("decided", decided_text(record));
  page.add("type", shown(decision.type));
  if (!decision.plan.placements.empty()) {
    page.add("plan", plan_table(decision.plan));
    page.add("speed", speed_text(decision.predicted_speed));
  }
  if (!record.actual.empty() && !record.same_as_plan) page.add("allocated", actual_table(record.actual));

  std::vector<std::string> neighbours, masked;
  for (const std::string &each : decision.neighbours) neighbours.push_back(shown(each));
  for (const Masked &each : decision.masked)
    masked.push_back(fmt::format("{}: {}", counted(each.nodes, "node"), shown(each.by)));
  page.add("neighbours", neighbours);
  if (!decision.candidates.empty()) page.add("candidates", candidate_table(decision.candidates));
  page.add("masked", masked);
  return page.text();
}

} // namespace harmony
