#include "src/plan/rooms.h"

#include "src/plan/fit.h"
#include "src/plan/key_index.h"
#include "src/plan/task_counter.h"

#include <algorithm>
#include <cstdint>

namespace harmony {
namespace {

std::uint64_t bits(int number) { return static_cast<std::uint64_t>(static_cast<std::uint32_t>(number)); }

// What makes nodes alike, packed.
KeyIndex<5>::Key key_of(const NodeClass &like) {
  static_assert(max_cores < 1 << 18 && max_gpus < 1 << 10, "they have to fit below");
  return {bits(like.free_cores) | bits(like.cores) << 18 | bits(like.free_gpus) << 36 | bits(like.gpus) << 46 |
              bits(like.distributed) << 56 | bits(like.beside) << 57 | bits(like.required) << 58,
          bits(like.workers) | bits(like.tasks) << 32, bits(like.ps) | bits(like.weight) << 32,
          like.memory_mb << 15 | bits(like.free_memory) << 8 | bits(like.threads_per_core), bits(like.state)};
}

KeyIndex<2>::Key shape_key(const NodeClass &one) {
  return {bits(one.workers) | bits(one.ps) << 32, bits(one.tasks) | bits(one.threads_per_core) << 32 |
                                                      bits(one.distributed) << 61 | bits(one.beside) << 62 |
                                                      bits(one.required) << 63};
}

double in_use(const NodeClass &one) {
  const double gpus = one.gpus ? 1 - double(one.free_gpus) / one.gpus : 0;
  const double cores = one.cores ? 1 - double(one.free_cores) / one.cores : 0;
  return gpus * 1024 + cores;
}

// Puts the nodes into classes.
class Finder {
public:
  Finder(const View &view, const Component &component, bool know_distributed, const std::vector<int> *states,
         Rooms &rooms)
      : view_(view), component_(component), know_distributed_(know_distributed && !view.empty()), states_(states),
        kinds_(view.cluster().kinds()), model_(kinds_.model(component.gpus.model)), rooms_(rooms),
        counter_(view, component, rooms), index_(kinds_.size()), class_of_kind_(kinds_.size(), unseen) {
    const auto nodes = static_cast<std::size_t>(view.cluster().size());
    rooms.classes.reserve(kinds_.size());
    members_.reserve(kinds_.size());
    rooms.next.assign(nodes, -1);
    rooms.class_of.assign(nodes, no_room);
    next_ = rooms.next.data();
    class_of_ = rooms.class_of.data();
  }

  // `special`: those that are to be looked at closely, ascending.
  void look_at_all(const std::vector<int> &special, const std::vector<int> &beside);
  void finish();

private:
  static constexpr int no_room = -1, unseen = -2, unusable = -3, odd = -4;

  struct Members {
    int first = -1;
    int last = -1;
    int count = 0;
  };

  // As one of its kind.
  void look_at(int node, int kind);
  // By itself: it is not as the cluster has it, or not as others of its kind.
  void look_closely(int index, bool beside);

  int look_at_kind(int index);
  int class_in_state(int like, int state);
  Free free_of(const NodeKind &kind) const;
  int state_of(int node) const { return states_ ? (*states_)[static_cast<std::size_t>(node)] : 0; }

  void look_at_size(int gpus, int cores, int threads_per_core) {
    rooms_.largest_gpus = std::max(rooms_.largest_gpus, gpus);
    rooms_.largest_cpus = std::max(rooms_.largest_cpus, cores * threads_per_core);
  }
  void look_at_free(const Free &free) {
    rooms_.most_free_gpus = std::max(rooms_.most_free_gpus, free.gpus);
    rooms_.most_free_cores = std::max(rooms_.most_free_cores, free.cores);
  }

  int class_like(const NodeClass &like) {
    const std::size_t index = index_.of(key_of(like));
    if (index == rooms_.classes.size()) {
      rooms_.classes.push_back(like);
      rooms_.classes.back().in_use = in_use(like);
      members_.emplace_back();
    }
    return static_cast<int>(index);
  }

  void add(int node, int to) {
    Members &members = members_[static_cast<std::size_t>(to)];
    *(members.last < 0 ? &members.first : next_ + members.last) = node;
    members.last = node;
    ++members.count;
    class_of_[node] = to;
  }

  const View &view_;
  const Component &component_;
  const bool know_distributed_;
  const std::vector<int> *states_;
  const NodeKinds &kinds_;
  const int model_;
  Rooms &rooms_;
  int *next_ = nullptr; // of the rooms
  int *class_of_ = nullptr;
  const TaskCounter counter_;
  int without_room_ = 0;           // usable nodes
  KeyIndex<5> index_;              // of the classes
  std::vector<Members> members_;   // by class
  std::vector<int> class_of_kind_; // with states: index into likes_
  std::vector<NodeClass> likes_;   // by kind that has room, as far as they do not depend on the state
  KeyIndex<1> pairs_;              // of likes_ and states
  std::vector<int> class_of_pair_;
};

// Nearly all of the time goes into this loop, so what it needs is at hand.
void Finder::look_at_all(const std::vector<int> &special, const std::vector<int> &beside) {
  const int end = std::min(component_.eligible.size(), static_cast<int>(rooms_.next.size()));
  const int *kinds = kinds_.of_nodes().data(), *classes = class_of_kind_.data();
  const bool by_kind = view_.trusting(), by_kind_alone = by_kind && !states_;
  std::size_t at = 0;
  int next_special = special.empty() ? end : special[0];
  const std::vector<std::uint64_t> &words = component_.eligible.words();
  for (std::size_t word = 0; word < words.size(); ++word)
    for (std::uint64_t rest = words[word]; rest; rest &= rest - 1) {
      const int node = static_cast<int>(word * 64) + __builtin_ctzll(rest);
      if (node >= end) return;
      while (next_special < node) next_special = ++at < special.size() ? special[at] : end;
      const int kind = kinds[node], known = classes[kind];
      if (known >= 0 && by_kind_alone && node != next_special)
        add(node, known);
      else if (by_kind && node != next_special)
        look_at(node, kind);
      else
        look_closely(node, std::binary_search(beside.begin(), beside.end(), node));
    }
}

void Finder::look_at(int node, int kind) {
  int &known = class_of_kind_[static_cast<std::size_t>(kind)];
  if (known == unseen) known = look_at_kind(kind);
  if (known == unusable) return;
  if (known == odd) return look_closely(node, false);
  if (known == no_room)
    ++without_room_;
  else
    add(node, states_ ? class_in_state(known, state_of(node)) : known);
}

void Finder::look_closely(int index, bool beside) {
  const auto at = static_cast<std::size_t>(index);
  const NodeState *node = &view_.cluster().node(static_cast<int>(at));
  if (!node->usable) return;
  ++without_room_;
  look_at_size(node->free_gpus.size(), node->free_cores.size(), std::max(1, node->threads_per_core));
  const auto changed = view_.changed().find(index);
  const bool as_empty = view_.empty() && changed == view_.changed().end();
  if (changed != view_.changed().end()) node = &changed->second;
  if (!as_empty && (node->whole_taken || (component_.whole_nodes && !node->tenants.empty()))) return;

  const Free free = as_empty ? free_when_empty(*node, component_) : free_now(*node, component_);
  look_at_free(free);
  NodeClass like;
  like.threads_per_core = std::max(1, node->threads_per_core);
  const bool exactly = !view_.trusting() || view_.distrusted().count(index);
  if (!(exactly ? counter_.count_exactly(view_.node(index), like) : counter_.count(like.threads_per_core, free, like)))
    return;
  like.gpus = node->free_gpus.size();
  like.free_gpus = free.gpus;
  like.cores = node->free_cores.size();
  like.free_cores = free.cores;
  like.memory_mb = node->memory_mb;
  like.free_memory = free_memory_part(free.memory_mb, node->memory_mb);
  like.weight = node->weight;
  like.required = component_.required.test(index);
  like.distributed = know_distributed_ && view_.cluster().distributed_on(index) > 0;
  like.beside = beside;
  like.state = state_of(index);
  --without_room_;
  add(index, class_like(like));
}

Free Finder::free_of(const NodeKind &kind) const {
  Free free{kind.free_cores, kind.free_gpus, kind.least_free_memory_mb()};
  if (view_.empty()) free = {kind.free_cores + kind.tenants_cores, kind.gpus, kind.memory_mb};
  if (!component_.gpus.model.empty() && kind.model != model_) free.gpus = 0;
  return free;
}

int Finder::look_at_kind(int index) {
  const NodeKind &kind = kinds_.kind(index);
  if (!kind.usable) return unusable;
  if (!component_.gpus.model.empty() && kind.model == NodeKind::odd_models) return odd;
  look_at_size(kind.gpus, kind.cores, kind.threads_per_core);
  if (!view_.empty() && (kind.whole_taken || (component_.whole_nodes && kind.shared))) return no_room;

  Free free = free_of(kind);
  look_at_free(free);
  NodeClass like;
  const bool room = counter_.count(kind.threads_per_core, free, like);
  if (!view_.empty() && counter_.by_memory()) {
    // More memory never makes for fewer tasks, so if the bounds agree, all between do.
    NodeClass other;
    free.memory_mb = kind.most_free_memory_mb();
    const bool other_room = counter_.count(kind.threads_per_core, free, other);
    if (room != other_room || like.workers != other.workers || like.ps != other.ps || like.tasks != other.tasks)
      return odd;
  }
  if (!room) return no_room;
  like.gpus = kind.gpus;
  like.free_gpus = free.gpus;
  like.cores = kind.cores;
  like.free_cores = free.cores;
  like.memory_mb = kind.memory_mb;
  like.free_memory = view_.empty() ? free_memory_part(kind.memory_mb, kind.memory_mb) : kind.free_memory;
  like.threads_per_core = kind.threads_per_core;
  like.weight = kind.weight;
  like.distributed = know_distributed_ && kind.distributed;
  if (!states_) return class_like(like);
  likes_.push_back(like);
  return static_cast<int>(likes_.size()) - 1;
}

int Finder::class_in_state(int like, int state) {
  const std::size_t pair = pairs_.of({bits(like) << 32 | bits(state)});
  if (pair == class_of_pair_.size()) {
    NodeClass mine = likes_[static_cast<std::size_t>(like)];
    mine.state = state;
    class_of_pair_.push_back(class_like(mine));
  }
  return class_of_pair_[pair];
}

void Finder::finish() {
  rooms_.usable = without_room_;
  for (std::size_t i = 0; i < members_.size(); ++i) {
    NodeClass &one = rooms_.classes[i];
    one.first = members_[i].first;
    one.last = members_[i].last;
    one.count = members_[i].count;
    rooms_.usable += one.count;
  }
  for (const int node : each(component_.required)) {
    const auto at = static_cast<std::size_t>(node);
    if (at < rooms_.class_of.size() && rooms_.class_of[at] >= 0) continue;
    rooms_.required_missing = node;
    break;
  }
}

void find_shapes(Rooms &rooms) {
  rooms.shapes.clear();
  for (NodeClass &one : rooms.classes) one.next_alike = -1;
  KeyIndex<2> index(32);
  for (std::size_t i = 0; i < rooms.classes.size(); ++i) {
    NodeClass &one = rooms.classes[i];
    const std::size_t at = index.of(shape_key(one));
    if (at == rooms.shapes.size())
      rooms.shapes.push_back(
          {one.workers, one.ps, one.tasks, one.threads_per_core, one.distributed, one.beside, one.required});
    Shape &shape = rooms.shapes[at];
    one.shape = static_cast<int>(at);
    (shape.last < 0 ? shape.first : rooms.classes[static_cast<std::size_t>(shape.last)].next_alike) =
        static_cast<int>(i);
    shape.last = static_cast<int>(i);
    shape.nodes += one.count;
    if (one.count == 0) continue;
    for (const Prefer by : {Prefer::best_fit, Prefer::emptiest}) {
      int &best = by == Prefer::emptiest ? shape.emptiest : shape.tightest;
      const NodeClass &other = rooms.classes[static_cast<std::size_t>(std::max(best, 0))];
      if (best < 0 || goes_before(by, one, one.first, other, other.first)) best = static_cast<int>(i);
    }
  }
}

// Nodes that are not to be taken for one of their kind, ascending.
std::vector<int> not_as_their_kind(const View &view, const Component &component, const std::vector<int> &beside) {
  std::vector<int> nodes = beside;
  for (const auto &[node, state] : view.changed()) nodes.push_back(node);
  nodes.insert(nodes.end(), view.distrusted().begin(), view.distrusted().end());
  for (const int node : each(component.required)) nodes.push_back(node);
  std::sort(nodes.begin(), nodes.end());
  return nodes;
}

} // namespace

Rooms find_rooms(const View &view, const Component &component, const std::vector<int> &beside, bool know_distributed,
                 const std::vector<int> *states) {
  Rooms rooms;
  rooms.gpus_per_node = component.gpus.per_node;
  if (!rooms.gpus_per_node) {
    rooms.gpus_per_worker = gpus_per_worker(component);
    rooms.gpus_per_ps = gpus_per_ps(component);
  }
  rooms.cpus_per_task = std::max(1, component.cpus_per_task);
  Finder finder(view, component, know_distributed, states, rooms);
  finder.look_at_all(not_as_their_kind(view, component, beside), beside);
  finder.finish();
  find_shapes(rooms);
  return rooms;
}

Rooms without(const Rooms &rooms, const std::vector<int> &nodes) {
  Rooms rest = rooms;
  const auto is_out = [&](int node) { return std::binary_search(nodes.begin(), nodes.end(), node); };
  for (const int node : nodes) {
    const int of_class = rooms.class_of[static_cast<std::size_t>(node)];
    if (of_class < 0 || rest.class_of[static_cast<std::size_t>(node)] < 0) continue;
    NodeClass &one = rest.classes[static_cast<std::size_t>(of_class)];
    const int first = one.first;
    one.first = one.last = -1;
    one.count = 0;
    for (int i = first, following; i >= 0; i = following) {
      following = rest.next[static_cast<std::size_t>(i)];
      rest.next[static_cast<std::size_t>(i)] = -1;
      if (is_out(i)) {
        rest.class_of[static_cast<std::size_t>(i)] = -1;
        continue;
      }
      if (one.count++ == 0)
        one.first = i;
      else
        rest.next[static_cast<std::size_t>(one.last)] = i;
      one.last = i;
    }
  }
  find_shapes(rest);
  return rest;
}

} // namespace harmony
