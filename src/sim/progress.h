// How far the running jobs are. Their speeds are the truth's and change only when a neighbour comes or goes, so between
// events there is nothing to do. For one thread.
#pragma once

#include "src/sim/truth/truth.h"

#include <cstdint>
#include <set>
#include <utility>
#include <vector>

namespace harmony {

struct Work {
  double epochs = 0;
  double best_speed = 1; // epochs a second
  double factor = 1;     // of the truth's speed: noise
  int gpus = 0;
};

class Progress {
public:
  explicit Progress(Truth &truth) : truth_(truth) {}

  // `key` as Truth::start has it.
  void start(int key, const Occupant &job, const Work &work, double now);
  void end(int key, double now);

  // The next job to end if nothing changes, ties by key; only while any() is true.
  bool any() const { return !ends_.empty(); }
  std::pair<double, int> next_end() const { return *ends_.begin(); }

  double done(int key) const { return at(key).done; } // epochs, as of the last change of its speed
  double speed(int key) const { return at(key).speed; }
  double slowdown(int key) const { return at(key).work.best_speed / at(key).speed; }
  double gpus_useful() const { return gpus_useful_; }

  // The jobs whose speed the last start or end changed, with the epochs that they did at the speed before, since when.
  struct Change {
    int key = 0;
    double since = 0;
    double epochs = 0;
    double speed = 0;    // before
    double relative = 1; // that speed to the best
    double after = 0;    // from now on; 0: it has ended
  };
  const std::vector<Change> &changes() const { return changes_; }

private:
  struct Runner {
    Work work;
    double done = 0;
    double since = 0; // when its speed last changed
    double speed = 0;
    double ends = 0;
  };
  const Runner &at(int key) const { return runners_[static_cast<std::size_t>(key)]; }
  Runner &at(int key) { return runners_[static_cast<std::size_t>(key)]; }
  void go_on(int key, double now, bool began);

  Truth &truth_;
  std::vector<Runner> runners_; // by key
  std::set<std::pair<double, int>> ends_;
  std::vector<Change> changes_;
  double gpus_useful_ = 0;
};

} // namespace harmony
