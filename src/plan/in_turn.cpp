#include "src/plan/choose_nodes.h"

#include <algorithm>
#include <climits>
#include <tuple>

namespace harmony {
namespace {

struct Touched {
  int of_class = 0;
  Share share;
};

bool takes_one_more(const NodeClass &node, int workers, int ps, bool for_ps) {
  return workers + ps < node.tasks && (for_ps ? ps < node.ps : workers < node.workers);
}

// The next node of each class that has no task yet.
class Untouched {
public:
  explicit Untouched(const Rooms &rooms) : rooms_(rooms) {
    for (const NodeClass &one : rooms.classes) {
      nodes_.push_back(one.first);
      required_ += one.required ? one.count : 0;
    }
  }
  int node(std::size_t of_class) const { return nodes_[of_class]; }
  int required() const { return required_; }
  void use(std::size_t of_class) {
    if (rooms_.classes[of_class].required) --required_;
    nodes_[of_class] = rooms_.next[static_cast<std::size_t>(nodes_[of_class])];
  }

private:
  const Rooms &rooms_;
  std::vector<int> nodes_;
  int required_ = 0;
};

struct Offer {
  double score = 0;
  int weight = 0;
  int node = -1;
  int of_class = -1;
  int touched = -1; // index, of a node that has tasks already
};

bool is_better(const Offer &one, const Offer &other) {
  return std::make_tuple(-one.score, one.weight, one.node) < std::make_tuple(-other.score, other.weight, other.node);
}

// The untouched nodes in the order in which one role prefers them: their scores never change.
class FreshOffers {
public:
  FreshOffers(const Rooms &rooms, const Untouched &untouched, const Score &score, bool for_ps) : untouched_(untouched) {
    for (std::size_t i = 0; i < rooms.classes.size(); ++i) {
      const NodeClass &node = rooms.classes[i];
      if (untouched.node(i) >= 0 && takes_one_more(node, 0, 0, for_ps))
        heap_.push_back({score(node, 0, 0, for_ps), node.weight, untouched.node(i), static_cast<int>(i), -1});
    }
    std::make_heap(heap_.begin(), heap_.end(), is_worse);
  }

  // Without a node if there is none.
  Offer best() {
    while (!heap_.empty()) {
      const int node = untouched_.node(static_cast<std::size_t>(heap_.front().of_class));
      if (node == heap_.front().node) return heap_.front();
      // That one has been used: the next of its class takes its place.
      std::pop_heap(heap_.begin(), heap_.end(), is_worse);
      heap_.back().node = node;
      if (node < 0)
        heap_.pop_back();
      else
        std::push_heap(heap_.begin(), heap_.end(), is_worse);
    }
    return {};
  }

  Offer best_required(const Rooms &rooms) const {
    Offer best;
    for (Offer offer : heap_) {
      offer.node = untouched_.node(static_cast<std::size_t>(offer.of_class));
      if (offer.node < 0 || !rooms.classes[static_cast<std::size_t>(offer.of_class)].required) continue;
      if (best.node < 0 || is_better(offer, best)) best = offer;
    }
    return best;
  }

private:
  static bool is_worse(const Offer &one, const Offer &other) { return is_better(other, one); }

  const Untouched &untouched_;
  std::vector<Offer> heap_; // the best first, as it was when it was last looked at
};

} // namespace

std::optional<Shares> in_turn(const Rooms &rooms, const Component &component, int most_nodes, const Score &score) {
  if (rooms.required_missing >= 0) return std::nullopt;
  int most = component.max_nodes ? component.max_nodes : INT_MAX;
  if (most_nodes) most = std::min(most, most_nodes);
  Untouched untouched(rooms);
  std::optional<FreshOffers> fresh;
  std::vector<Touched> touched;
  for (int task = 0; task < component.tasks(); ++task) {
    const bool for_ps = task >= component.workers;
    if (task == 0 || task == component.workers) fresh.emplace(rooms, untouched, score, for_ps);
    const int used = static_cast<int>(touched.size()), tasks_left = component.tasks() - task;
    const bool required_now =
        untouched.required() > 0 && (untouched.required() >= tasks_left || untouched.required() >= most - used);
    const bool new_now = required_now || component.min_nodes - used >= tasks_left;
    Offer best;
    if (used < most) best = required_now ? fresh->best_required(rooms) : fresh->best();
    for (std::size_t i = 0; i < touched.size() && !new_now; ++i) {
      const Share &share = touched[i].share;
      const NodeClass &node = rooms.classes[static_cast<std::size_t>(touched[i].of_class)];
      if (!takes_one_more(node, share.workers, share.ps, for_ps)) continue;
      const Offer offer{score(node, share.workers, share.ps, for_ps), node.weight, share.node, touched[i].of_class,
                        static_cast<int>(i)};
      if (best.node < 0 || is_better(offer, best)) best = offer;
    }
    if (best.node < 0) return std::nullopt;
    if (best.touched < 0) {
      best.touched = used;
      touched.push_back({best.of_class, {best.node, 0, 0}});
      untouched.use(static_cast<std::size_t>(best.of_class));
    }
    Share &share = touched[static_cast<std::size_t>(best.touched)].share;
    ++(for_ps ? share.ps : share.workers);
  }
  Shares shares;
  for (const Touched &one : touched) shares.push_back(one.share);
  std::sort(shares.begin(), shares.end(), [](const Share &a, const Share &b) { return a.node < b.node; });
  return shares;
}

} // namespace harmony
