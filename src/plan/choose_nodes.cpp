#include "src/plan/choose_nodes.h"

#include <algorithm>
#include <climits>
#include <tuple>

namespace harmony {
namespace {

struct Size {
  int workers = 0;
  int ps = 0;
  int tasks = 0;
};

struct Need {
  int workers = 0;
  int ps = 0;
  int min_nodes = 1;
  int max_nodes = 0;
  bool per_node = false;
  int tasks() const { return workers + ps; }
};

int divided_up(int what, int by) { return (what + by - 1) / by; }

// The classes as one choice of nodes sees them. Classes of one shape differ in nothing that decides how many nodes it
// takes, so everything that counts goes by shapes, and the order within a shape is found only where it is picked from.
class Field {
public:
  // Without the nodes of `out` (ascending), or those where the gang is not yet.
  Field(const Rooms &rooms, Prefer prefer, const std::vector<int> &out, bool only_beside, bool heed_required)
      : rooms_(rooms), prefer_(prefer), out_(out), heed_required_(heed_required), orders_(rooms.shapes.size()) {
    for (const Shape &shape : rooms.shapes) nodes_.push_back(only_beside && !shape.beside ? 0 : shape.nodes);
    if (out.empty()) return;
    counts_.reserve(rooms.classes.size());
    for (const NodeClass &one : rooms.classes) counts_.push_back(one.count);
    for (const int node : out) {
      const int of_class = rooms.class_of[static_cast<std::size_t>(node)];
      if (of_class < 0) continue;
      --counts_[static_cast<std::size_t>(of_class)];
      int &nodes = nodes_[static_cast<std::size_t>(at(of_class).shape)];
      nodes = std::max(0, nodes - 1);
    }
  }

  const Rooms &rooms() const { return rooms_; }
  Prefer prefer() const { return prefer_; }
  const NodeClass &at(int of_class) const { return rooms_.classes[static_cast<std::size_t>(of_class)]; }
  bool required(const Shape &shape) const { return heed_required_ && shape.required; }

  int nodes(std::size_t shape) const { return nodes_[shape]; }
  int count(int of_class) const {
    return counts_.empty() ? at(of_class).count : counts_[static_cast<std::size_t>(of_class)];
  }
  int first(int of_class) const {
    return count(of_class) == at(of_class).count ? at(of_class).first : not_out(at(of_class).first);
  }
  int next(int node) const { return not_out(rooms_.next[static_cast<std::size_t>(node)]); }

  // The class of the shape that comes after so many others; there has to be one.
  int preferred(std::size_t shape, std::size_t after);

private:
  struct Order {
    std::vector<int> sorted; // the first few of its classes that have nodes
    std::vector<int> rest;   // a heap
  };

  int not_out(int node) const {
    while (node >= 0 && !out_.empty() && std::binary_search(out_.begin(), out_.end(), node))
      node = rooms_.next[static_cast<std::size_t>(node)];
    return node;
  }

  const Rooms &rooms_;
  const Prefer prefer_;
  const std::vector<int> &out_;
  const bool heed_required_;
  std::vector<int> nodes_;    // by shape
  std::vector<int> counts_;   // by class; empty: as in the rooms
  std::vector<Order> orders_; // by shape
};

// Most often only the first few are asked for, and a sort would be in vain.
int Field::preferred(std::size_t shape, std::size_t after) {
  // Nodes that are out never move another class up.
  const int best = rooms_.shapes[shape].preferred(prefer_);
  if (after == 0 && count(best) == at(best).count) return best;
  const auto comes_later = [this](int one, int other) {
    return goes_before(prefer_, at(other), first(other), at(one), first(one));
  };
  Order &order = orders_[shape];
  std::vector<int> &rest = order.rest;
  if (order.sorted.empty()) {
    for (int i = rooms_.shapes[shape].first; i >= 0; i = at(i).next_alike)
      if (count(i) > 0) rest.push_back(i);
    std::make_heap(rest.begin(), rest.end(), comes_later);
  }
  while (order.sorted.size() <= after) {
    std::pop_heap(rest.begin(), rest.end(), comes_later);
    order.sorted.push_back(rest.back());
    rest.pop_back();
  }
  return order.sorted[after];
}

// How many nodes of each size there are.
class Sizes {
public:
  void add(int size, int nodes) {
    if (static_cast<std::size_t>(size) >= nodes_.size()) nodes_.resize(static_cast<std::size_t>(size) + 1);
    nodes_[static_cast<std::size_t>(size)] += nodes;
  }

  // How many of the largest make up the need; INT_MAX: all are too few.
  int least(int need) const {
    int nodes = 0;
    for (std::size_t size = nodes_.size(); size-- > 1 && need > 0;) {
      const int used = std::min(nodes_[size], divided_up(need, static_cast<int>(size)));
      nodes += used;
      need -= used * static_cast<int>(size);
    }
    return need <= 0 ? nodes : INT_MAX;
  }

  // What so many of the largest are together.
  int hold(int nodes) const {
    long sum = 0;
    for (std::size_t size = nodes_.size(); size-- > 1 && nodes > 0;) {
      const int used = std::min(nodes, nodes_[size]);
      sum += static_cast<long>(used) * static_cast<long>(size);
      nodes -= used;
    }
    return static_cast<int>(std::min<long>(sum, INT_MAX / 2));
  }

private:
  std::vector<int> nodes_; // by size
};

// Chooses exactly so many nodes. A set of nodes holds the need if the sums of workers, PS and tasks over its nodes do:
// within a node any mix below its three numbers fits, and that carries over to sums.
class Chooser {
public:
  // `even`: no node takes more than its fair share.
  Chooser(Field &field, const Need &need, const Choice &choice, int nodes, bool even)
      : field_(field), need_(need), choice_(choice), nodes_(nodes), rest_{need.workers, need.ps, need.tasks()} {
    const int most_workers = even ? divided_up(need.workers, nodes) : need.workers;
    const int most_tasks = even ? divided_up(need.tasks(), nodes) : need.tasks();
    const std::vector<Shape> &shapes = field.rooms().shapes;
    groups_.resize(shapes.size());
    for (std::size_t i = 0; i < shapes.size(); ++i) {
      Size &size = groups_[i].size;
      size.workers = std::min({shapes[i].workers, most_workers, most_tasks});
      size.ps = std::min({shapes[i].ps, need.ps, most_tasks});
      size.tasks = std::min({shapes[i].tasks, size.workers + size.ps, most_tasks});
      const bool avoided = choice.avoid_distributed && shapes[i].distributed;
      groups_[i].left = avoided || size.tasks == 0 ? 0 : field.nodes(i);
      add(size, groups_[i].left);
    }
  }

  // No fewer nodes can do.
  int at_least() const {
    return std::max(
        {by_workers_.least(need_.workers), by_ps_.least(need_.ps), by_tasks_.least(need_.tasks()), required_nodes()});
  }

  std::optional<Shares> choose() {
    if (!pick_required() || static_cast<int>(picks_.size()) > nodes_) return std::nullopt;
    while (static_cast<int>(picks_.size()) < nodes_) {
      const int best = best_group();
      if (best < 0) return std::nullopt;
      pick_from(static_cast<std::size_t>(best));
    }
    if (rest_.workers > 0 || rest_.ps > 0 || rest_.tasks > 0) return std::nullopt;
    return shares();
  }

private:
  // The nodes of one shape.
  struct Group {
    Size size; // what one of them is good for
    int left = 0;
    std::size_t used_up = 0; // classes, in the field's order
    int used = 0;            // nodes of the class after those
  };

  void add(const Size &size, int nodes) {
    by_workers_.add(size.workers, nodes);
    by_ps_.add(size.ps, nodes);
    by_tasks_.add(size.tasks, nodes);
  }

  int required_nodes() const {
    int count = 0;
    for (std::size_t i = 0; i < groups_.size(); ++i)
      if (field_.required(field_.rooms().shapes[i])) count += field_.nodes(i);
    return count;
  }

  bool pick_required() {
    std::vector<int> classes;
    for (const Shape &shape : field_.rooms().shapes)
      for (int i = field_.required(shape) ? shape.first : -1; i >= 0; i = field_.at(i).next_alike) classes.push_back(i);
    std::sort(classes.begin(), classes.end());
    for (const int i : classes) {
      const int nodes = field_.nodes(static_cast<std::size_t>(field_.at(i).shape)) ? field_.count(i) : 0;
      if (nodes > 0 && group_of(i).left == 0) return false;
      for (int picked = 0; picked < nodes; ++picked) pick(i);
    }
    return true;
  }

  // Of the shapes whose node leaves no more than the roomiest others can hold, that with the best class.
  int best_group() const {
    const int others = nodes_ - static_cast<int>(picks_.size()) - 1;
    const int workers = rest_.workers - by_workers_.hold(others);
    const int ps = rest_.ps - by_ps_.hold(others);
    const int tasks = rest_.tasks - by_tasks_.hold(others);
    int best = -1;
    Rank best_rank;
    for (std::size_t i = 0; i < groups_.size(); ++i) {
      const Group &group = groups_[i];
      if (group.left == 0 || group.size.workers < workers || group.size.ps < ps || group.size.tasks < tasks) continue;
      const Rank mine = rank(field_.preferred(i, group.used_up), group.size);
      if (best >= 0 && !(mine < best_rank)) continue;
      best = static_cast<int>(i);
      best_rank = mine;
    }
    return best;
  }

  using Rank = std::tuple<int, int, double, int, int, int>; // the lowest is best; within a shape as Field has it

  Rank rank(int of_class, const Size &size) const {
    const NodeClass &one = field_.at(of_class);
    const int first = field_.first(of_class);
    if (field_.prefer() == Prefer::emptiest) return {!one.beside, 0, one.in_use, one.weight, 0, first};
    const int tasks = std::max(1, std::min(size.tasks, rest_.tasks));
    const int workers = std::max(0, std::min({size.workers, rest_.workers, tasks}));
    const int gpus_left = one.free_gpus - field_.rooms().gpus_for(workers, tasks - workers);
    const int cores_left = one.free_cores - tasks * field_.rooms().cpus_per_task / one.threads_per_core;
    return {!one.beside, one.weight, gpus_left, -tasks, cores_left, first};
  }

  void pick_from(std::size_t shape) {
    Group &group = groups_[shape];
    const int of_class = field_.preferred(shape, group.used_up);
    pick(of_class);
    if (++group.used < field_.count(of_class)) return;
    ++group.used_up;
    group.used = 0;
  }

  void pick(int of_class) {
    Group &group = group_of(of_class);
    picks_.push_back(of_class);
    --group.left;
    add(group.size, -1);
    rest_.workers -= group.size.workers;
    rest_.ps -= group.size.ps;
    rest_.tasks -= group.size.tasks;
  }

  Group &group_of(int of_class) { return groups_[static_cast<std::size_t>(field_.at(of_class).shape)]; }
  const Size &size_of(int of_class) const { return groups_[static_cast<std::size_t>(field_.at(of_class).shape)].size; }

  // Fills the nodes in the order they were picked; each has a task at least, so that no node is held for nothing.
  std::optional<Shares> shares() const {
    std::vector<int> member(field_.rooms().classes.size(), -2);
    Size after;
    for (const int i : picks_) {
      const Size &size = size_of(i);
      after.workers += size.workers;
      after.ps += size.ps;
      after.tasks += size.tasks;
    }
    Shares shares;
    std::vector<int> ps_limits;
    int workers_left = need_.workers, ps_left = need_.ps;
    int nodes_after = static_cast<int>(picks_.size());
    for (const int i : picks_) {
      const Size &size = size_of(i);
      after.workers -= size.workers;
      after.ps -= size.ps;
      after.tasks -= size.tasks;
      --nodes_after;
      const int most = std::min(size.tasks, workers_left + ps_left - nodes_after);
      const int ps_at_least = std::max(0, ps_left - after.ps);
      const int workers = std::min({size.workers, workers_left, most - ps_at_least});
      const int ps = std::min({size.ps, ps_left, most - workers});
      if (workers < 0 || ps < 0 || workers + ps < 1) return std::nullopt;
      workers_left -= workers;
      ps_left -= ps;
      int &node = member[static_cast<std::size_t>(i)];
      node = node == -2 ? field_.first(i) : field_.next(node);
      shares.push_back({node, workers, ps});
      ps_limits.push_back(std::min(size.ps, size.tasks - workers));
    }
    if (workers_left || ps_left) return std::nullopt;
    if (choice_.ps_even) even_ps(shares, ps_limits);
    return shares;
  }

  static void even_ps(Shares &shares, const std::vector<int> &limits) {
    int ps = 0;
    for (Share &share : shares) {
      // A node without a worker keeps one PS, or it would be held for nothing.
      ps += share.ps - (share.workers == 0);
      share.ps = share.workers == 0;
    }
    for (; ps > 0; --ps) {
      std::size_t best = shares.size();
      for (std::size_t i = 0; i < shares.size(); ++i)
        if (shares[i].ps < limits[i] && (best == shares.size() || shares[i].ps < shares[best].ps)) best = i;
      ++shares[best].ps; // there is one: the PS were within the limits before
    }
  }

  Field &field_;
  const Need need_;
  const Choice &choice_;
  const int nodes_;
  std::vector<Group> groups_;           // by shape
  Sizes by_workers_, by_ps_, by_tasks_; // of the nodes that are left
  std::vector<int> picks_;              // classes
  Size rest_;                           // what the picked nodes do not hold yet
};

std::optional<Shares> fewest(Field field, const Need &need, const Choice &choice) {
  const int enough = Chooser(field, need, choice, 1, false).at_least();
  if (enough == INT_MAX) return std::nullopt;
  const int most = std::min(need.tasks(), need.max_nodes ? need.max_nodes : INT_MAX);
  int tries = 0;
  // The lower bound is nearly always reached; beyond a few steps an exact minimum is not worth the time.
  for (int nodes = std::max({1, enough, need.min_nodes}); nodes <= most;) {
    if (nodes > enough || need.per_node)
      if (auto shares = Chooser(field, need, choice, nodes, true).choose()) return shares;
    if (auto shares = Chooser(field, need, choice, nodes, false).choose()) return shares;
    const int step = ++tries <= 8 ? 1 : nodes;
    nodes = nodes < most ? std::min(most, nodes + step) : most + 1;
  }
  return std::nullopt;
}

std::vector<int> nodes_of(const Shares &shares) {
  std::vector<int> nodes;
  for (const Share &share : shares) nodes.push_back(share.node);
  std::sort(nodes.begin(), nodes.end());
  return nodes;
}

std::optional<Shares> workers_then_ps(const Rooms &rooms, const Component &component, const Choice &choice) {
  auto workers =
      fewest(Field(rooms, choice.prefer, choice.not_on, false, true), {component.workers, 0, 1, 0, false}, choice);
  if (!workers) return std::nullopt;
  std::vector<int> out = nodes_of(*workers);
  out.insert(out.end(), choice.not_on.begin(), choice.not_on.end());
  std::sort(out.begin(), out.end());
  // Required nodes that are left over are checked below.
  const auto ps = fewest(Field(rooms, choice.prefer, out, false, false), {0, component.ps, 1, 0, false}, choice);
  if (!ps) return std::nullopt;
  workers->insert(workers->end(), ps->begin(), ps->end());
  const int nodes = static_cast<int>(workers->size());
  if (nodes < component.min_nodes || (component.max_nodes && nodes > component.max_nodes)) return std::nullopt;
  const std::vector<int> used = nodes_of(*workers);
  for (const int node : each(component.required))
    if (!std::binary_search(used.begin(), used.end(), node)) return std::nullopt;
  return workers;
}

// Nodes where the gang is already cost it nothing more, so all of those may do better than one more node.
std::optional<Shares> where_it_is(const Rooms &rooms, const Need &need, const Choice &choice) {
  const auto misses = [](const Shape &shape) { return shape.required && !shape.beside; };
  const auto is_beside = [](const Shape &shape) { return shape.beside; };
  if (std::any_of(rooms.shapes.begin(), rooms.shapes.end(), misses) ||
      std::none_of(rooms.shapes.begin(), rooms.shapes.end(), is_beside))
    return std::nullopt;
  return fewest(Field(rooms, choice.prefer, choice.not_on, true, true), need, choice);
}

} // namespace

std::optional<Shares> fewest_nodes(const Rooms &rooms, const Component &component, const Choice &choice) {
  if (rooms.required_missing >= 0) return std::nullopt;
  for (const int node : choice.not_on)
    if (component.required.test(node)) return std::nullopt;
  const Need need{component.workers, component.ps, component.min_nodes, component.max_nodes,
                  component.gpus.per_node > 0};
  std::optional<Shares> shares;
  if (choice.ps_apart && component.ps && component.workers)
    shares = workers_then_ps(rooms, component, choice);
  else if (!(shares = where_it_is(rooms, need, choice)))
    shares = fewest(Field(rooms, choice.prefer, choice.not_on, false, true), need, choice);
  if (shares) std::sort(shares->begin(), shares->end(), [](const Share &a, const Share &b) { return a.node < b.node; });
  return shares;
}

} // namespace harmony
