// How one resource is shared: max-min fairly, by progressive filling, weighted by how many tasks use it. Pure functions
// on plain values.
#pragma once

#include <vector>

namespace harmony {

// One job's claim to a resource.
struct ResourceClaim {
  double demand = 0; // MB/s that it would move if nothing held it up
  double weight = 1; // tasks of it that use the resource: a whole number, so that sums of them are exact
  int key = 0;       // the job
  int use = 0;       // which of the job's uses it is
};

// The claims of a resource in the order in which filling satisfies them. Equal ones are in the order of their keys,
// which changes no level, so that levels do not depend on who came first.
class SharedResource {
public:
  explicit SharedResource(double capacity = 0) : capacity_(capacity) {}

  void add(const ResourceClaim &claim);
  void remove(int key);
  const std::vector<ResourceClaim> &claims() const { return claims_; }

  // What the holder of the claim gets when it wants all it can have, and the others what they demand. Alone it is the
  // whole capacity; it never falls below its weight's part, never grows with another claim, and never shrinks with more
  // capacity.
  double level(std::size_t index) const;

private:
  double capacity_;
  std::vector<ResourceClaim> claims_;
};

} // namespace harmony
