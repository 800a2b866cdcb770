// A decision and what became of it as JSON: what the engine answers to `harmony explain`, and what that prints for
// programs.
#pragma once

#include "src/plan/decision_log.h"

#include <optional>
#include <string>
#include <vector>

namespace harmony {

// One line without its end. Texts become printable ASCII and are cut at a generous length, so that what is written can
// always be read. Cores and GPUs are lists ("0-3,8"); a number that is not finite is null; Placement::node is not sent.
std::string decision_json(const DecisionRecord &record);

// Nothing unless each key is there, of its type and within its limits; keys that this version does not know are passed
// over. Never throws. Placement::node is -1, sets are no larger than they need to be.
std::optional<DecisionRecord> decision_of_json(const std::string &text);

// The engine's answer to "explain JOB": {"decision": {...}} or {"problem": "..."}, with "unknown": true beside the
// problem if the asker may know of the job, but the engine does not (any more).
struct ExplainAnswer {
  std::optional<DecisionRecord> decision;
  std::string problem; // empty if there is a decision
  bool unknown = false;
};
std::string explain_answer(const ExplainAnswer &answer);
ExplainAnswer read_explain_answer(const std::string &text);

std::string number_list(std::vector<int> numbers); // 0-3,8
std::string number_list(const Bits &bits);

} // namespace harmony
