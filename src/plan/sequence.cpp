#include "src/plan/sequence.h"

#include <algorithm>
#include <climits>
#include <tuple>

namespace harmony {
namespace {

struct Touched {
  int of_class = 0;
  Share share;
  Spot spot; // for the next task
  bool takes_more = false;
};

// Orders what is offered: the first is best.
using Rank = std::tuple<double, int, int>; // -score, weight, node

class Sequence {
public:
  Sequence(const Rooms &rooms, const Component &component, int most_nodes, SpotScores &scores)
      : rooms_(rooms), component_(component), scores_(scores),
        most_(component.max_nodes ? component.max_nodes : INT_MAX) {
    if (most_nodes) most_ = std::min(most_, most_nodes);
    for (const NodeClass &one : rooms.classes) {
      untouched_.push_back(one.first);
      required_left_ += one.required ? one.count : 0;
    }
  }

  std::optional<Shares> run() {
    if (rooms_.required_missing >= 0) return std::nullopt;
    for (int task = 0; task < component_.tasks(); ++task) {
      const bool for_ps = task >= component_.workers;
      if (task == 0 || task == component_.workers) begin_role(for_ps, (for_ps ? component_.ps : component_.workers));
      if (!place(component_.tasks() - task, for_ps)) return std::nullopt;
      const int more = (for_ps ? component_.tasks() : component_.workers) - task - 1;
      if (more > 0) look_again(touched_[latest_], for_ps, more);
    }
    Shares shares;
    for (Touched &one : touched_) shares.push_back(std::move(one.share));
    std::sort(shares.begin(), shares.end(), [](const Share &a, const Share &b) { return a.node < b.node; });
    return shares;
  }

private:
  struct Offer {
    Rank rank;
    int of_class = 0;
    Spot spot;
  };

  static bool takes_one_more(const NodeClass &node, const Share &here, bool for_ps) {
    return here.workers + here.ps < node.tasks && (for_ps ? here.ps < node.ps : here.workers < node.workers);
  }

  const NodeClass &class_of(int index) const { return rooms_.classes[static_cast<std::size_t>(index)]; }

  void begin_role(bool for_ps, int tasks) {
    fresh_.clear();
    for (const SpotScores::Fresh &one : scores_.fresh(rooms_, for_ps))
      if (takes_one_more(class_of(one.of_class), {}, for_ps)) offer(one.of_class, one.spot);
    std::vector<SpotScores::Again> questions;
    for (const Touched &one : touched_)
      if (takes_one_more(class_of(one.of_class), one.share, for_ps))
        questions.push_back({&class_of(one.of_class), one.share});
    if (!questions.empty()) scores_.expect(questions, for_ps, tasks);
    for (Touched &one : touched_) look_again(one, for_ps, tasks);
  }

  // The next node of the class, if one is left.
  void offer(int of_class, const Spot &spot) {
    const int node = untouched_[static_cast<std::size_t>(of_class)];
    if (node >= 0) fresh_.push_back({{-spot.score, class_of(of_class).weight, node}, of_class, spot});
  }

  void look_again(Touched &one, bool for_ps, int more) {
    const NodeClass &node = class_of(one.of_class);
    one.takes_more = takes_one_more(node, one.share, for_ps);
    if (one.takes_more) one.spot = scores_.again(node, one.share, for_ps, more);
  }

  bool place(int tasks_left, bool for_ps) {
    const int used = static_cast<int>(touched_.size());
    const bool required_now = required_left_ > 0 && (required_left_ >= tasks_left || required_left_ >= most_ - used);
    const bool new_now = required_now || component_.min_nodes - used >= tasks_left;
    const int best = new_now ? -1 : best_touched();
    const int fresh = used < most_ ? best_fresh(required_now, rest_for_last(used)) : -1;
    if (best < 0 && fresh < 0) return false;
    if (best >= 0 &&
        (fresh < 0 || rank_of(touched_[static_cast<std::size_t>(best)]) < fresh_[static_cast<std::size_t>(fresh)].rank))
      latest_ = static_cast<std::size_t>(best);
    else
      touch(static_cast<std::size_t>(fresh));
    Touched &one = touched_[latest_];
    scores_.chosen(class_of(one.of_class), one.share, one.spot);
    add_task(one, for_ps);
    return true;
  }

  Rank rank_of(const Touched &one) const { return {-one.spot.score, class_of(one.of_class).weight, one.share.node}; }

  int best_touched() const {
    int best = -1;
    for (std::size_t i = 0; i < touched_.size(); ++i)
      if (touched_[i].takes_more &&
          (best < 0 || rank_of(touched_[i]) < rank_of(touched_[static_cast<std::size_t>(best)])))
        best = static_cast<int>(i);
    return best;
  }

  struct Rest {
    int workers = 0, ps = 0, tasks = 0;
  };

  // If one new node only may be touched: what it has to hold, because those touched do not.
  Rest rest_for_last(int used) const {
    if (used + 1 < most_) return {};
    Rest rest{component_.workers, component_.ps, component_.tasks()};
    for (const Touched &one : touched_) {
      const NodeClass &node = class_of(one.of_class);
      rest.workers -= node.workers;
      rest.ps -= node.ps;
      rest.tasks -= node.tasks;
    }
    return rest;
  }

  // Its place among the fresh ones, -1 if there is none. Classes are few: a policy that has many asks about some.
  int best_fresh(bool required, const Rest &rest) const {
    int best = -1;
    for (std::size_t i = 0; i < fresh_.size(); ++i) {
      const NodeClass &node = class_of(fresh_[i].of_class);
      if ((required && !node.required) || node.workers < rest.workers || node.ps < rest.ps || node.tasks < rest.tasks)
        continue;
      if (best < 0 || fresh_[i].rank < fresh_[static_cast<std::size_t>(best)].rank) best = static_cast<int>(i);
    }
    return best;
  }

  void touch(std::size_t which) {
    const Offer fresh = fresh_[which];
    fresh_.erase(fresh_.begin() + static_cast<std::ptrdiff_t>(which));
    const auto index = static_cast<std::size_t>(fresh.of_class);
    if (class_of(fresh.of_class).required) --required_left_;
    latest_ = touched_.size();
    touched_.push_back({fresh.of_class, {std::get<2>(fresh.rank), 0, 0}, fresh.spot, false});
    untouched_[index] = rooms_.next[static_cast<std::size_t>(untouched_[index])];
    offer(fresh.of_class, fresh.spot);
  }

  static void add_task(Touched &one, bool for_ps) {
    ++(for_ps ? one.share.ps : one.share.workers);
    if (for_ps || one.spot.domain < 0) return;
    const auto domain = static_cast<std::size_t>(one.spot.domain);
    if (one.share.workers_in.size() <= domain) one.share.workers_in.resize(domain + 1);
    ++one.share.workers_in[domain];
  }

  const Rooms &rooms_;
  const Component &component_;
  SpotScores &scores_;
  int most_;
  int required_left_ = 0;
  std::vector<int> untouched_; // by class: its next node without a task
  std::vector<Offer> fresh_;   // one a class
  std::vector<Touched> touched_;
  std::size_t latest_ = 0; // of the touched: where the last task went
};

} // namespace

std::optional<Shares> in_sequence(const Rooms &rooms, const Component &component, int most_nodes, SpotScores &scores) {
  return Sequence(rooms, component, most_nodes, scores).run();
}

} // namespace harmony
