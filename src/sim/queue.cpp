#include "src/sim/queue.h"

#include <algorithm>
#include <utility>

namespace harmony {

const char *order_name(QueueOrder order) {
  switch (order) {
  case QueueOrder::submit: return "submit";
  case QueueOrder::priority: return "priority";
  case QueueOrder::shortest: return "shortest";
  }
  return "submit";
}

void Queue::add(std::size_t job, const SimJob &description, double best_s, Gang gang) {
  Place place{0, description.submit_s, job};
  if (order_ == QueueOrder::priority) place.rank = -description.priority;
  if (order_ == QueueOrder::shortest) place.rank = best_s;
  const auto at = std::upper_bound(jobs_.begin(), jobs_.end(), place) - jobs_.begin();
  jobs_.insert(jobs_.begin() + at, place);
  pending_.insert(pending_.begin() + at, std::move(gang));
}

void Queue::remove(const std::vector<bool> &started) {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < jobs_.size(); ++i) {
    if (i < started.size() && started[i]) continue;
    if (kept != i) {
      jobs_[kept] = jobs_[i];
      pending_[kept] = std::move(pending_[i]);
    }
    ++kept;
  }
  jobs_.resize(kept);
  pending_.resize(kept);
}

} // namespace harmony
