#include "src/policy/learned_scores.h"

#include "src/encode/schema.h"

#include <algorithm>
#include <numeric>

namespace harmony {
namespace {

// A call of the model costs as much as a few dozen rows, so what is likely to be asked next is asked along.
constexpr int steps_ahead = 8;
constexpr std::size_t most_likely = 8;

bool has_room(const NodeClass &node, const Share &here, bool for_ps) {
  return here.workers + here.ps < node.tasks && (for_ps ? here.ps < node.ps : here.workers < node.workers);
}

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
                             const JobRow &job)
    : encoder_(encoder), scorer_(scorer), gang_(gang), component_(component), job_(job) {}

void LearnedScores::begin_role(const Rooms &rooms, bool for_ps) {
  rows_ = std::make_unique<CandidateRows>(encoder_, gang_, component_, rooms, for_ps);
  job_.features[job_column::is_ps] = for_ps ? 1 : 0;
  scorer_.ask_about(job_);
}

std::vector<SpotScores::Fresh> LearnedScores::fresh(const Rooms &rooms, bool for_ps) {
  begin_role(rooms, for_ps);
  clear(batch_, domains_);
  std::vector<int> classes;
  for (std::size_t i = 0; i < rooms.classes.size(); ++i)
    if (rooms.classes[i].tasks > 0 && (for_ps ? rooms.classes[i].ps : rooms.classes[i].workers) > 0)
      classes.push_back(static_cast<int>(i));
  std::vector<std::size_t> ends;
  for (const int i : classes) {
    rows_->append(rooms.classes[static_cast<std::size_t>(i)], {}, batch_, domains_);
    ends.push_back(domains_.size());
  }
  const std::vector<float> scores = scorer_.candidates(batch_);
  std::vector<Fresh> fresh;
  for (std::size_t i = 0; i < classes.size(); ++i)
    fresh.push_back({classes[i], best_of(scores, domains_, i ? ends[i - 1] : 0, ends[i])});
  expect_more_of(rooms, fresh, for_ps);
  return fresh;
}

// The best of them will get a task, and then the question is whether they get another.
void LearnedScores::expect_more_of(const Rooms &rooms, const std::vector<Fresh> &fresh, bool for_ps) {
  const int tasks = for_ps ? component_.ps : component_.workers;
  if (tasks < 2) return;
  std::vector<std::size_t> order(fresh.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const std::size_t likely = std::min({order.size(), static_cast<std::size_t>(tasks), most_likely});
  std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(likely), order.end(),
                    [&](std::size_t a, std::size_t b) { return fresh[a].spot.score > fresh[b].spot.score; });
  std::vector<Again> questions;
  for (std::size_t i = 0; i < likely; ++i) {
    const NodeClass &node = rooms.classes[static_cast<std::size_t>(fresh[order[i]].of_class)];
    Share first;
    ++(for_ps ? first.ps : first.workers);
    const int domain = fresh[order[i]].spot.domain;
    if (!for_ps && domain >= 0) {
      first.workers_in.resize(static_cast<std::size_t>(domain) + 1);
      ++first.workers_in.back();
    }
    if (has_room(node, first, for_ps)) questions.push_back({&node, std::move(first)});
  }
  expect(questions, for_ps, tasks - 1);
}

void LearnedScores::expect(const std::vector<Again> &questions, bool for_ps, int more) {
  clear(batch_, domains_);
  for (const Again &question : questions)
    append_steps(*question.node, question.here, for_ps, std::min(more, steps_ahead));
  scorer_.candidates(batch_);
}

// The rows of the next tasks on the node, if all of them went there.
void LearnedScores::append_steps(const NodeClass &node, Share here, bool for_ps, int steps) {
  for (int step = 0; step < steps && has_room(node, here, for_ps); ++step) {
    rows_->append(node, here, batch_, domains_);
    here = one_more(node, here, for_ps);
  }
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
  if (!scorer_.knows(batch_)) append_steps(node, one_more(node, here, for_ps), for_ps, std::min(more, steps_ahead) - 1);
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
