#include "src/policy/learned_scores.h"

#include "src/encode/schema.h"

#include <algorithm>
#include <functional>
#include <tuple>

namespace harmony {
namespace {

// A call of the model costs as much as a few dozen rows, so what is likely to be asked next is asked along.
constexpr int steps_ahead = 8;

void clear(Rows &rows, std::vector<int> &domains) {
  rows.values.clear();
  rows.count = 0;
  domains.clear();
}

// The best of rows [first, end).
Spot best_of(const std::vector<float> &scores, const std::vector<int> &domains, std::size_t first, std::size_t end) {
  std::size_t best = first;
  for (std::size_t i = first + 1; i < end; ++i)
    if (scores[i] > scores[best]) best = i;
  return {scores[best], domains[best]};
}

} // namespace

LearnedScores::LearnedScores(const Encoder &encoder, Scorer &scorer, const Gang &gang, const Component &component,
                             const JobRow &job, int most_rows)
    : encoder_(encoder), scorer_(scorer), gang_(gang), component_(component), job_(job), most_rows_(most_rows) {}

void LearnedScores::begin_role(const Rooms &rooms, bool for_ps) {
  rows_ = std::make_unique<CandidateRows>(encoder_, gang_, component_, rooms, for_ps);
  job_.features[job_column::is_ps] = for_ps ? 1 : 0;
  scorer_.ask_about(job_);
}

// Classes of nodes, diverse ones if there are too many: those with least left over, the emptiest, those with the least
// load of others, and those where the gang is or has to be. Which nodes there are of each does not matter.
std::vector<int> LearnedScores::shortlist(const Rooms &rooms, bool for_ps) const {
  std::vector<int> all;
  for (std::size_t i = 0; i < rooms.classes.size(); ++i)
    if (rooms.classes[i].tasks > 0 && (for_ps ? rooms.classes[i].ps : rooms.classes[i].workers) > 0)
      all.push_back(static_cast<int>(i));
  const auto most = static_cast<std::size_t>(std::max(16, most_rows_));
  if (all.size() <= most) return all;

  using Key = std::function<double(const NodeClass &)>;
  const auto load = [&](const NodeClass &node) {
    const NodeEncoding &state = encoder_.state(node.state);
    return state.nic_load + state.link_load + state.disk_load + state.held_cores / (1.0 + state.cores);
  };
  const Key keys[] = {[](const NodeClass &node) { return node.free_gpus + node.free_cores / 65536.0; },
                      [](const NodeClass &node) { return -node.free_gpus - node.free_cores / 65536.0; },
                      [&](const NodeClass &node) { return load(node) + node.free_gpus / 1024.0; },
                      [](const NodeClass &node) { return -node.tasks; }};
  std::vector<char> taken(rooms.classes.size(), 0);
  for (const int i : all) {
    const NodeClass &node = rooms.classes[static_cast<std::size_t>(i)];
    taken[static_cast<std::size_t>(i)] = node.beside || node.required;
  }
  for (const Key &key : keys) {
    std::vector<std::tuple<double, std::size_t, int>> order; // equals by what they are, not by where they stand
    for (const int i : all) {
      const NodeClass &node = rooms.classes[static_cast<std::size_t>(i)];
      order.emplace_back(key(node), encoder_.hash(node.state), i);
    }
    const std::size_t part = most / std::size(keys);
    std::nth_element(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(part), order.end());
    for (std::size_t i = 0; i < part; ++i) taken[static_cast<std::size_t>(std::get<int>(order[i]))] = 1;
  }
  all.erase(std::remove_if(all.begin(), all.end(), [&](int i) { return !taken[static_cast<std::size_t>(i)]; }),
            all.end());
  return all;
}

std::vector<SpotScores::Fresh> LearnedScores::fresh(const Rooms &rooms, bool for_ps) {
  begin_role(rooms, for_ps);
  clear(batch_, domains_);
  const std::vector<int> classes = shortlist(rooms, for_ps);
  std::vector<std::size_t> ends;
  for (const int i : classes) {
    rows_->append(rooms.classes[static_cast<std::size_t>(i)], {}, batch_, domains_);
    ends.push_back(domains_.size());
  }
  const std::vector<float> scores = scorer_.candidates(batch_);
  std::vector<Fresh> fresh;
  for (std::size_t i = 0; i < classes.size(); ++i)
    fresh.push_back({classes[i], best_of(scores, domains_, i ? ends[i - 1] : 0, ends[i])});
  return fresh;
}

// The node with a likely next task: in the domain of the last one for as long as it holds more.
Share LearnedScores::one_more(const NodeClass &node, const Share &here, bool for_ps) const {
  Share next = here;
  if (for_ps) {
    ++next.ps;
    return next;
  }
  ++next.workers;
  Rows rows;
  std::vector<int> domains;
  rows_->append(node, here, rows, domains);
  if (domains.front() < 0) return next;
  int best = domains.front();
  for (const int domain : domains)
    if (static_cast<std::size_t>(domain) < here.workers_in.size() &&
        here.workers_in[static_cast<std::size_t>(domain)] > 0)
      best = domain;
  const auto at = static_cast<std::size_t>(best);
  if (next.workers_in.size() <= at) next.workers_in.resize(at + 1);
  ++next.workers_in[at];
  return next;
}

Spot LearnedScores::again(const NodeClass &node, const Share &here, bool for_ps, int more) {
  clear(batch_, domains_);
  rows_->append(node, here, batch_, domains_);
  const std::size_t asked = domains_.size();
  if (!scorer_.knows(batch_)) {
    Share next = here;
    for (int step = 1; step < std::min(more, steps_ahead); ++step) {
      next = one_more(node, next, for_ps);
      if (next.workers + next.ps >= node.tasks || (for_ps ? next.ps >= node.ps : next.workers >= node.workers)) break;
      rows_->append(node, next, batch_, domains_);
    }
  }
  return best_of(scorer_.candidates(batch_), domains_, 0, asked);
}

void LearnedScores::chosen(const NodeClass &node, const Share &here, const Spot &spot) {
  clear(batch_, domains_);
  rows_->append(node, here, batch_, domains_);
  for (std::size_t i = 0; i < domains_.size(); ++i)
    if (domains_[i] == spot.domain)
      scorer_.check_candidate(batch_.values.data() + i * static_cast<std::size_t>(batch_.width));
}

} // namespace harmony
