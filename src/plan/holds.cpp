#include "src/plan/holds.h"

#include <utility>

namespace harmony {

void Holds::tell(std::vector<Gang> &pending) const {
  if (since_.empty()) return;
  for (Gang &gang : pending) {
    const auto at = since_.find(gang.job);
    if (at != since_.end()) gang.held_since = at->second;
  }
}

void Holds::remember(const Snapshot &snapshot, const std::vector<Decision> &decisions) {
  std::unordered_map<std::uint32_t, std::time_t> still;
  for (const Gang &gang : snapshot.pending)
    if (gang.held_since) still.emplace(gang.job, gang.held_since);
  for (const Decision &decision : decisions)
    if (decision.verdict == Verdict::wait) still.emplace(decision.job, snapshot.taken);
  since_ = std::move(still);
}

} // namespace harmony
