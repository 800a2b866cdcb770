// Since when policies hold gangs back, from round to round: what MaxWait counts from. For one thread.
#pragma once

#include "src/values/plan.h"
#include "src/values/snapshot.h"

#include <cstdint>
#include <ctime>
#include <unordered_map>
#include <vector>

namespace harmony {

class Holds {
public:
  // Before a round: sets Gang::held_since.
  void tell(std::vector<Gang> &pending) const;

  // After it: gangs that were told to wait are held from then on, and those that are not pending any more are
  // forgotten.
  void remember(const Snapshot &snapshot, const std::vector<Decision> &decisions);

  std::size_t size() const { return since_.size(); }

private:
  std::unordered_map<std::uint32_t, std::time_t> since_; // by job
};

} // namespace harmony
