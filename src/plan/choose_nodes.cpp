#include "src/plan/choose_nodes.h"

#include <algorithm>
#include <array>
#include <climits>
#include <functional>
#include <numeric>
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

// Chooses exactly so many nodes. A set of nodes holds the need if the sums of workers, PS and tasks over its nodes do:
// within a node any mix below its three numbers fits, and that carries over to sums.
class Chooser {
public:
  // `even`: no node takes more than its fair share.
  Chooser(const Rooms &rooms, const Need &need, const Choice &choice, int nodes, bool even)
      : rooms_(rooms), need_(need), choice_(choice), nodes_(nodes) {
    const int most_workers = even ? divided_up(need.workers, nodes) : need.workers;
    const int most_tasks = even ? divided_up(need.tasks(), nodes) : need.tasks();
    sizes_.reserve(rooms.classes.size());
    left_.reserve(rooms.classes.size());
    for (const NodeClass &one : rooms.classes) {
      Size size;
      size.workers = std::min({one.workers, most_workers, most_tasks});
      size.ps = std::min({one.ps, need.ps, most_tasks});
      size.tasks = std::min({one.tasks, size.workers + size.ps, most_tasks});
      sizes_.push_back(size);
      left_.push_back((choice.avoid_distributed && one.distributed) || size.tasks == 0 ? 0 : one.count);
    }
    rest_ = {need.workers, need.ps, need.tasks()};
    sort(&Size::workers, by_workers_);
    sort(&Size::ps, by_ps_);
    sort(&Size::tasks, by_tasks_);
  }

  // No fewer nodes can do.
  int at_least() const {
    return std::max({least(&Size::workers, by_workers_, need_.workers), least(&Size::ps, by_ps_, need_.ps),
                     least(&Size::tasks, by_tasks_, need_.tasks()), required()});
  }

  std::optional<Shares> choose() {
    for (std::size_t i = 0; i < rooms_.classes.size(); ++i) {
      if (!rooms_.classes[i].required) continue;
      if (left_[i] < rooms_.classes[i].count) return std::nullopt;
      while (left_[i]) pick(i);
    }
    if (static_cast<int>(picks_.size()) > nodes_) return std::nullopt;
    while (static_cast<int>(picks_.size()) < nodes_) {
      const int best = best_class();
      if (best < 0) return std::nullopt;
      pick(static_cast<std::size_t>(best));
    }
    if (rest_.workers > 0 || rest_.ps > 0 || rest_.tasks > 0) return std::nullopt;
    return shares();
  }

private:
  using Order = std::vector<int>;

  void sort(int Size::*what, Order &order) const {
    order.resize(sizes_.size());
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(), [&](int a, int b) {
      const int of_a = sizes_[static_cast<std::size_t>(a)].*what, of_b = sizes_[static_cast<std::size_t>(b)].*what;
      return of_a != of_b ? of_a > of_b : a < b;
    });
  }

  int required() const {
    int count = 0;
    for (const NodeClass &one : rooms_.classes) count += one.required ? one.count : 0;
    return count;
  }

  int least(int Size::*what, const Order &order, int need) const {
    int nodes = 0;
    for (const int i : order) {
      const int size = sizes_[static_cast<std::size_t>(i)].*what, left = left_[static_cast<std::size_t>(i)];
      if (need <= 0) return nodes;
      if (size == 0 || left == 0) continue;
      const int used = std::min(left, divided_up(need, size));
      nodes += used;
      need -= used * size;
    }
    return need <= 0 ? nodes : INT_MAX;
  }

  // How much the roomiest nodes that are left hold.
  int hold(int Size::*what, const Order &order, int nodes) const {
    long sum = 0;
    for (const int i : order) {
      if (nodes <= 0) break;
      const int used = std::min(nodes, left_[static_cast<std::size_t>(i)]);
      sum += static_cast<long>(used) * (sizes_[static_cast<std::size_t>(i)].*what);
      nodes -= used;
    }
    return static_cast<int>(std::min<long>(sum, INT_MAX / 2));
  }

  // The best class whose node leaves no more than the roomiest others can hold.
  int best_class() const {
    const int others = nodes_ - static_cast<int>(picks_.size()) - 1;
    const int workers = rest_.workers - hold(&Size::workers, by_workers_, others);
    const int ps = rest_.ps - hold(&Size::ps, by_ps_, others);
    const int tasks = rest_.tasks - hold(&Size::tasks, by_tasks_, others);
    int best = -1;
    Rank best_rank;
    for (std::size_t i = 0; i < sizes_.size(); ++i) {
      if (left_[i] == 0 || sizes_[i].workers < workers || sizes_[i].ps < ps || sizes_[i].tasks < tasks) continue;
      const Rank mine = rank(i);
      if (best >= 0 && !(mine < best_rank)) continue;
      best = static_cast<int>(i);
      best_rank = mine;
    }
    return best;
  }

  using Rank = std::tuple<int, int, double, int, int, int>; // the lowest is best

  Rank rank(std::size_t i) const {
    const NodeClass &one = rooms_.classes[i];
    if (choice_.prefer == Prefer::emptiest) {
      const double gpus_used = one.gpus ? 1 - double(one.free_gpus) / one.gpus : 0;
      const double cores_used = one.cores ? 1 - double(one.free_cores) / one.cores : 0;
      return {!one.beside, 0, gpus_used * 1024 + cores_used, one.weight, 0, one.first};
    }
    const int tasks = std::max(1, std::min(sizes_[i].tasks, rest_.tasks));
    const int workers = std::max(0, std::min({sizes_[i].workers, rest_.workers, tasks}));
    const int gpus_left = one.free_gpus - rooms_.gpus_for(workers, tasks - workers);
    const int cores_left = one.free_cores - tasks * rooms_.cpus_per_task / one.threads_per_core;
    return {!one.beside, one.weight, gpus_left, -tasks, cores_left, one.first};
  }

  void pick(std::size_t i) {
    picks_.push_back(static_cast<int>(i));
    --left_[i];
    rest_.workers -= sizes_[i].workers;
    rest_.ps -= sizes_[i].ps;
    rest_.tasks -= sizes_[i].tasks;
  }

  // Fills the nodes in the order they were picked; each has a task at least, so that no node is held for nothing.
  std::optional<Shares> shares() const {
    std::vector<int> member(rooms_.classes.size(), -2);
    Size after;
    for (const int i : picks_) {
      const Size &size = sizes_[static_cast<std::size_t>(i)];
      after.workers += size.workers;
      after.ps += size.ps;
      after.tasks += size.tasks;
    }
    Shares shares;
    std::vector<int> ps_limits;
    int workers_left = need_.workers, ps_left = need_.ps;
    int nodes_after = static_cast<int>(picks_.size());
    for (const int pick : picks_) {
      const auto i = static_cast<std::size_t>(pick);
      const Size &size = sizes_[i];
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
      int &node = member[i];
      node = node == -2 ? rooms_.classes[i].first : rooms_.next[static_cast<std::size_t>(node)];
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

  const Rooms &rooms_;
  const Need need_;
  const Choice &choice_;
  const int nodes_;
  std::vector<Size> sizes_; // by class: what one of its nodes is good for
  std::vector<int> left_;   // by class: nodes not picked yet
  Order by_workers_, by_ps_, by_tasks_;
  std::vector<int> picks_;
  Size rest_; // what the picked nodes do not hold yet
};

std::optional<Shares> fewest(const Rooms &rooms, const Need &need, const Choice &choice) {
  const int enough = Chooser(rooms, need, choice, 1, false).at_least();
  if (enough == INT_MAX) return std::nullopt;
  const int most = std::min(need.tasks(), need.max_nodes ? need.max_nodes : INT_MAX);
  int tries = 0;
  // The lower bound is nearly always reached; beyond a few steps an exact minimum is not worth the time.
  for (int nodes = std::max({1, enough, need.min_nodes}); nodes <= most;) {
    if (nodes > enough || need.per_node)
      if (auto shares = Chooser(rooms, need, choice, nodes, true).choose()) return shares;
    if (auto shares = Chooser(rooms, need, choice, nodes, false).choose()) return shares;
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
  auto workers = fewest(rooms, {component.workers, 0, 1, 0, false}, choice);
  if (!workers) return std::nullopt;
  Rooms rest = without(rooms, nodes_of(*workers));
  for (NodeClass &one : rest.classes) one.required = false; // those left over are checked below
  const auto ps = fewest(rest, {0, component.ps, 1, 0, false}, choice);
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
  const auto misses = [](const NodeClass &one) { return one.required && !one.beside; };
  const auto is_beside = [](const NodeClass &one) { return one.beside; };
  if (std::any_of(rooms.classes.begin(), rooms.classes.end(), misses) ||
      std::none_of(rooms.classes.begin(), rooms.classes.end(), is_beside))
    return std::nullopt;
  Rooms only = rooms;
  only.classes.erase(std::remove_if(only.classes.begin(), only.classes.end(), std::not_fn(is_beside)),
                     only.classes.end());
  return fewest(only, need, choice);
}

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

struct Best {
  double score = 0;
  int weight = 0;
  int node = -1;
  int touched = -1;
  int of_class = -1;

  void offer(double its_score, int its_weight, int its_node, int its_touched, int its_class) {
    if (node >= 0 && std::make_tuple(-score, weight, node) <= std::make_tuple(-its_score, its_weight, its_node)) return;
    *this = {its_score, its_weight, its_node, its_touched, its_class};
  }
};

} // namespace

std::optional<Shares> fewest_nodes(const Rooms &rooms, const Component &component, const Choice &choice) {
  if (rooms.required_missing >= 0) return std::nullopt;
  if (!choice.not_on.empty()) {
    for (const int node : choice.not_on)
      if (component.required.test(node)) return std::nullopt;
    Choice elsewhere = choice;
    elsewhere.not_on.clear();
    return fewest_nodes(without(rooms, choice.not_on), component, elsewhere);
  }
  const Need need{component.workers, component.ps, component.min_nodes, component.max_nodes,
                  component.gpus.per_node > 0};
  std::optional<Shares> shares;
  if (choice.ps_apart && component.ps && component.workers)
    shares = workers_then_ps(rooms, component, choice);
  else if (!(shares = where_it_is(rooms, need, choice)))
    shares = fewest(rooms, need, choice);
  if (shares) std::sort(shares->begin(), shares->end(), [](const Share &a, const Share &b) { return a.node < b.node; });
  return shares;
}

std::optional<Shares> in_turn(const Rooms &rooms, const Component &component, int most_nodes, const Score &score) {
  if (rooms.required_missing >= 0) return std::nullopt;
  int most = component.max_nodes ? component.max_nodes : INT_MAX;
  if (most_nodes) most = std::min(most, most_nodes);
  Untouched untouched(rooms);
  std::vector<Touched> touched;
  for (int task = 0; task < component.tasks(); ++task) {
    const bool for_ps = task >= component.workers;
    const int used = static_cast<int>(touched.size()), tasks_left = component.tasks() - task;
    const bool required_now =
        untouched.required() > 0 && (untouched.required() >= tasks_left || untouched.required() >= most - used);
    const bool new_now = required_now || component.min_nodes - used >= tasks_left;
    Best best;
    if (!new_now)
      for (std::size_t i = 0; i < touched.size(); ++i) {
        const Share &share = touched[i].share;
        const NodeClass &node = rooms.classes[static_cast<std::size_t>(touched[i].of_class)];
        if (takes_one_more(node, share.workers, share.ps, for_ps))
          best.offer(score(node, share.workers, share.ps, for_ps), node.weight, share.node, static_cast<int>(i), -1);
      }
    for (std::size_t i = 0; i < rooms.classes.size() && used < most; ++i) {
      const NodeClass &node = rooms.classes[i];
      if (untouched.node(i) < 0 || (required_now && !node.required) || !takes_one_more(node, 0, 0, for_ps)) continue;
      best.offer(score(node, 0, 0, for_ps), node.weight, untouched.node(i), -1, static_cast<int>(i));
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
