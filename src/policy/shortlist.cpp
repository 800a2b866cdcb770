#include "src/policy/shortlist.h"

#include <algorithm>
#include <array>
#include <tuple>
#include <vector>

namespace harmony {
namespace {

struct Entry {
  double key = 0; // the least is best
  float load = 0;
  std::size_t hash = 0;
  int node = 0;
  bool operator<(const Entry &other) const {
    return std::tie(key, load, hash, node) < std::tie(other.key, other.load, other.hash, other.node);
  }
};

// The best of what is offered, at most so many.
class Best {
public:
  explicit Best(std::size_t most) : most_(most) { heap_.reserve(most + 1); }

  void offer(const Entry &entry) {
    if (heap_.size() == most_ && !(entry < heap_.front())) return;
    heap_.push_back(entry);
    std::push_heap(heap_.begin(), heap_.end());
    if (heap_.size() <= most_) return;
    std::pop_heap(heap_.begin(), heap_.end());
    heap_.pop_back();
  }
  void add_to(Bits &nodes) const {
    for (const Entry &entry : heap_) nodes.set(entry.node);
  }

private:
  const std::size_t most_;
  std::vector<Entry> heap_; // the worst on top
};

} // namespace

Bits shortlist(const Rooms &rooms, const Encoder &encoder, int most) {
  Bits nodes(static_cast<int>(rooms.next.size()));
  const auto each_key = static_cast<std::size_t>(std::max(1, most / 4));
  std::array<Best, 4> best{Best(each_key), Best(each_key), Best(each_key), Best(each_key)};
  for (const NodeClass &node : rooms.classes) {
    const double free = node.free_gpus + node.free_cores / 65536.0;
    for (int i = node.first; i >= 0; i = rooms.next[static_cast<std::size_t>(i)]) {
      if (node.required || node.beside) nodes.set(i);
      const float load = encoder.load(i);
      const std::size_t hash = encoder.hash(encoder.states()[static_cast<std::size_t>(i)]);
      best[0].offer({free, load, hash, i});
      best[1].offer({-free, load, hash, i});
      best[2].offer({load, 0, hash, i});
      best[3].offer({-static_cast<double>(node.tasks), load, hash, i});
    }
  }
  for (const Best &one : best) one.add_to(nodes);
  return nodes;
}

} // namespace harmony
