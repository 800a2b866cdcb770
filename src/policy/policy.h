// What every policy answers: where a gang goes, or that it waits. The same objects work in slurmctld and in the
// simulator. A policy that make_policy gives has no state that changes: it may be asked from any thread. Policy
// "learned" needs a model and is made for each round (learned.h).
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
  std::string policy = {};           // whose it is, if not the policy's that was asked
};

class Policy {
public:
  virtual ~Policy() = default;
  virtual const char *name() const = 0;

  // Where this gang should start now. `may_wait` is false when it has waited as long as it may: then a policy that
  // would wait gives its best plan that starts now instead.
  virtual Proposal propose(const Cluster &cluster, const Gang &gang, bool may_wait) const = 0;

  // What to do instead of a plan it gave that does not fit, which is a fault of the policy. By itself: nothing.
  virtual Proposal instead(const Cluster &cluster, const Gang &gang, bool may_wait, const std::string &problem) const;
};

// The policy of that name, or nullptr; "learned" cannot be made by its name alone. policy_names() is what harmony.conf
// may say, in the order of the manual.
std::unique_ptr<Policy> make_policy(const std::string &name);
const std::vector<std::string> &policy_names();

} // namespace harmony
