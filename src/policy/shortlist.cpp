#include "src/policy/shortlist.h"

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

namespace harmony {
namespace {

// Takes nodes class by class, in an order, until there are enough; of the last class the least loaded.
class Taker {
public:
  Taker(const Rooms &rooms, const Encoder &encoder, Bits &nodes) : rooms_(rooms), encoder_(encoder), nodes_(nodes) {}

  // Those with the lowest keys. A few classes are enough, most often, so they are not sorted.
  template <typename Key> void take(int most, const Key &key) {
    keyed_.clear();
    for (std::size_t i = 0; i < rooms_.classes.size(); ++i)
      if (rooms_.classes[i].count > 0) keyed_.emplace_back(key(rooms_.classes[i]), static_cast<int>(i));
    const auto lowest_on_top = std::greater<>();
    std::make_heap(keyed_.begin(), keyed_.end(), lowest_on_top);
    while (!keyed_.empty() && most > 0) {
      // Classes of the same key are one.
      const double lowest = keyed_.front().first;
      members_.clear();
      while (!keyed_.empty() && keyed_.front().first == lowest) {
        add(keyed_.front().second);
        std::pop_heap(keyed_.begin(), keyed_.end(), lowest_on_top);
        keyed_.pop_back();
      }
      const auto wanted = std::min(static_cast<std::size_t>(most), members_.size());
      if (wanted < members_.size())
        std::nth_element(members_.begin(), members_.begin() + static_cast<std::ptrdiff_t>(wanted), members_.end());
      for (std::size_t i = 0; i < wanted; ++i) nodes_.set(members_[i].node);
      most -= static_cast<int>(wanted);
    }
  }

private:
  const NodeClass &class_of(int index) const { return rooms_.classes[static_cast<std::size_t>(index)]; }

  void add(int of_class) {
    for (int i = class_of(of_class).first; i >= 0; i = rooms_.next[static_cast<std::size_t>(i)])
      members_.push_back(encoder_.load(i));
  }

  const Rooms &rooms_;
  const Encoder &encoder_;
  Bits &nodes_;
  std::vector<std::pair<double, int>> keyed_;
  std::vector<NodeLoad> members_;
};

} // namespace

Bits shortlist(const Rooms &rooms, const Encoder &encoder, int most) {
  Bits nodes(static_cast<int>(rooms.next.size()));
  const int each_key = std::max(1, most / 4);
  const auto free = [](const NodeClass &node) { return node.free_gpus + node.free_cores / 65536.0; };
  Taker taker(rooms, encoder, nodes);
  taker.take(each_key, free);
  taker.take(each_key, [&](const NodeClass &node) { return -free(node); });
  taker.take(each_key, [](const NodeClass &node) { return -static_cast<double>(node.tasks); });
  int left = each_key;
  for (auto load = encoder.by_load().begin(); left > 0 && load != encoder.by_load().end(); ++load) {
    if (rooms.class_of[static_cast<std::size_t>(load->node)] < 0) continue;
    nodes.set(load->node);
    --left;
  }
  for (const NodeClass &node : rooms.classes)
    for (int i = node.required || node.beside ? node.first : -1; i >= 0; i = rooms.next[static_cast<std::size_t>(i)])
      nodes.set(i);
  return nodes;
}

} // namespace harmony
