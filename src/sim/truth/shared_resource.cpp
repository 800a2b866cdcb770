#include "src/sim/truth/shared_resource.h"

#include <algorithm>
#include <tuple>

namespace harmony {
namespace {

bool is_satisfied_before(const ResourceClaim &one, const ResourceClaim &other) {
  // By demand a task; the rest makes the order the same whoever came first.
  return std::make_tuple(one.demand / one.weight, one.demand, one.key) <
         std::make_tuple(other.demand / other.weight, other.demand, other.key);
}

} // namespace

void SharedResource::add(const ResourceClaim &claim) {
  claims_.insert(std::upper_bound(claims_.begin(), claims_.end(), claim, is_satisfied_before), claim);
}

void SharedResource::remove(int key) {
  const auto holds = [key](const ResourceClaim &each) { return each.key == key; };
  claims_.erase(std::remove_if(claims_.begin(), claims_.end(), holds), claims_.end());
}

double SharedResource::level(std::size_t index) const {
  double rest = capacity_, weight = 0;
  for (const ResourceClaim &each : claims_) weight += each.weight;
  for (std::size_t i = 0; i < claims_.size(); ++i) {
    if (i == index) continue;
    const ResourceClaim &other = claims_[i];
    if (other.demand * weight > other.weight * rest) break; // nor are those behind it satisfied
    rest -= other.demand;
    weight -= other.weight;
  }
  return rest * (claims_[index].weight / weight); // in this order it is exactly the capacity for one alone
}

} // namespace harmony
