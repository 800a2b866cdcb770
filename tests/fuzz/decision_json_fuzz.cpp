// Fuzzes the reading of the engine's answer to `harmony explain`: whatever comes in, it is refused, or it is written,
// shown and read back the same.

// links: src/plan/decision_log.cpp src/show/decision_json.cpp src/show/decision_text.cpp src/values/plan.cpp
#include "src/show/decision_json.h"
#include "src/show/decision_text.h"

#include <cstdlib>

namespace {

void check(const harmony::DecisionRecord &record) {
  using namespace harmony;
  const std::string text = decision_json(record);
  const std::optional<DecisionRecord> again = decision_of_json(text);
  if (!again || decision_json(*again) != text) std::abort();
  for (char c : decision_text(record))
    if (c != '\n' && (c < ' ' || c > '~')) std::abort();
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char *data, std::size_t size) {
  using namespace harmony;
  const std::string text(reinterpret_cast<const char *>(data), size);
  if (const std::optional<DecisionRecord> record = decision_of_json(text)) check(*record);
  const ExplainAnswer answer = read_explain_answer(text);
  if (answer.decision.has_value() == !answer.problem.empty()) std::abort();
  if (answer.decision) check(*answer.decision);
  return 0;
}
