// Backfill as Slurm does it: a gang that has no room is promised nodes from the moment on when the jobs that run there
// now reach their time limits, and whoever comes behind it may use those nodes only if it is gone by then.
//
// Like Slurm's, promises are of whole nodes. Unlike Slurm's, a gang is never promised a node that another one was
// promised, even where the two would not meet in time. The planner keeps clear of what will be promised, so that its
// plans are ones that backfill carries out; the simulator carries them out by the same rules. For one round and one
// thread.
#pragma once

#include "src/plan/cluster.h"
#include "src/values/gang.h"
#include "src/values/plan.h"
#include "src/values/snapshot.h"

#include <ctime>
#include <vector>

namespace harmony {

class Backfill {
public:
  // What it looks at must outlive it, and may fill up meanwhile. At most so many gangs are promised something.
  Backfill(const Snapshot &snapshot, int most_promises) : nodes_{&snapshot, nullptr}, most_promises_(most_promises) {}
  Backfill(const Cluster &cluster, int most_promises) : nodes_{nullptr, &cluster}, most_promises_(most_promises) {}

  void promise(const Gang &gang);

  // Whether the gang keeps clear of what was promised before, and where it would.
  bool may_start(const Gang &gang, const Plan &plan) const;
  bool concerns(const Gang &gang) const; // whether there is anything to keep clear of
  Bits nodes_for(const Gang &gang, const Bits &eligible) const;

  struct Promise {
    std::uint32_t job = 0;
    std::time_t from = 0;
    Bits nodes;
  };
  const std::vector<Promise> &promises() const { return promises_; }

  // Nodes and who runs there, of a snapshot or of the planner's copy of it.
  struct Nodes {
    const Snapshot *snapshot = nullptr;
    const Cluster *cluster = nullptr;

    std::size_t count() const { return snapshot ? snapshot->nodes.size() : static_cast<std::size_t>(cluster->size()); }
    int jobs() const { return snapshot ? static_cast<int>(snapshot->running.size()) : cluster->jobs(); }
    std::time_t now() const { return snapshot ? snapshot->taken : cluster->now(); }
    const NodeState &operator[](std::size_t index) const {
      return snapshot ? snapshot->nodes[index] : cluster->node(static_cast<int>(index));
    }
    std::time_t end_of(const Tenant &tenant) const {
      return snapshot ? snapshot->running[static_cast<std::size_t>(tenant.running)].ends : cluster->job_of(tenant).ends;
    }
  };

private:
  std::time_t end_of(const Gang &gang) const;
  void sort_ends();

  const Nodes nodes_;
  const int most_promises_;
  std::vector<Promise> promises_;
  struct Release {
    std::time_t at = 0;
    int running = 0;
    int node = 0;
    int tenant = 0; // index
  };
  std::vector<Release> releases_; // by time
  int sorted_ = -1;               // of so many jobs
  int tries_ = 0;                 // to promise something
};

} // namespace harmony
