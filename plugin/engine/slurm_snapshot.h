// Takes the snapshot of a planning round out of slurmctld: copies under its read locks as little as possible as fast as
// possible, and makes sense of it afterwards.
#pragma once

#include "plugin/engine/raw_jobs.h"
#include "src/publish/node_table.h"
#include "src/values/settings.h"
#include "src/values/snapshot.h"

#include <cstdint>
#include <functional>

namespace harmony {

struct SnapshotTaken {
  Snapshot snapshot;
  Bits usable;                   // nodes, by their index
  std::vector<ClaimSeen> claims; // that came since the last snapshot
  std::int64_t lock_ns = 0;      // for how long slurmctld's locks were held
  std::int64_t all_ns = 0;       // with waiting for them, and with what is done afterwards
};

// Of one thread: it remembers the jobs of the last time, most of which are still the same.
class SnapshotTaker {
public:
  // `epoch` is read while the locks are held.
  SnapshotTaken take(const NodeTable::Nodes &nodes, const Settings &settings,
                     const std::function<std::uint64_t()> &epoch);

private:
  JobCopies jobs_;
};

} // namespace harmony
