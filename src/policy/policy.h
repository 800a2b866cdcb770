// What every policy answers: where a gang goes, or that it waits. The same objects work in slurmctld and in the
// simulator. A policy has no state of its own that changes: it may be asked from any thread.
#pragma once

#include "src/plan/cluster.h"
#include "src/values/gang.h"
#include "src/values/plan.h"

#include <memory>
#include <string>
#include <vector>

namespace harmony {

struct Proposal {
  Verdict verdict = Verdict::no_room;
  Plan plan;                         // whole, or empty unless the verdict is place
  std::string reason;                // one sentence for the job's owner
  std::vector<Candidate> candidates; // best first, a few
};

class Policy {
public:
  virtual ~Policy() = default;
  virtual const char *name() const = 0;

  // Where this gang should start now. `may_wait` is false when it has waited as long as it may: then a policy that
  // would wait gives its best plan that starts now instead.
  virtual Proposal propose(const Cluster &cluster, const Gang &gang, bool may_wait) const = 0;
};

// The policy of that name, or nullptr. policy_names() is what harmony.conf may say, in the order of the manual.
std::unique_ptr<Policy> make_policy(const std::string &name);
const std::vector<std::string> &policy_names();

} // namespace harmony
