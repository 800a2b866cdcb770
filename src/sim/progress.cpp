#include "src/sim/progress.h"

#include <algorithm>

namespace harmony {
namespace {

constexpr double slowest = 1e-6; // of the best: tables can combine to next to nothing, and a job has to end some day

} // namespace

// From now on at the speed that the truth has for it.
void Progress::go_on(int key, double now, bool began) {
  Runner &runner = at(key);
  const double speed = std::max(truth_.speed(key) * runner.work.factor, slowest * runner.work.best_speed);
  if (!began) {
    if (speed == runner.speed) return;
    const double epochs = runner.speed * (now - runner.since);
    changes_.push_back({key, runner.since, epochs, runner.speed, runner.speed / runner.work.best_speed, speed});
    runner.done += epochs;
    ends_.erase({runner.ends, key});
    gpus_useful_ -= runner.work.gpus * runner.speed / runner.work.best_speed;
  }
  runner.speed = speed;
  runner.since = now;
  runner.ends = now + std::max(0.0, runner.work.epochs - runner.done) / speed;
  ends_.insert({runner.ends, key});
  gpus_useful_ += runner.work.gpus * speed / runner.work.best_speed;
}

void Progress::start(int key, const Occupant &job, const Work &work, double now) {
  if (runners_.size() <= static_cast<std::size_t>(key)) runners_.resize(static_cast<std::size_t>(key) + 1);
  at(key) = {};
  at(key).work = work;
  changes_.clear();
  truth_.start(key, job);
  for (const int other : truth_.touched()) go_on(other, now, other == key);
}

void Progress::end(int key, double now) {
  Runner &runner = at(key);
  changes_.clear();
  const double epochs = runner.speed * (now - runner.since);
  changes_.push_back({key, runner.since, epochs, runner.speed, runner.speed / runner.work.best_speed, 0});
  runner.done += epochs;
  ends_.erase({runner.ends, key});
  gpus_useful_ -= runner.work.gpus * runner.speed / runner.work.best_speed;
  truth_.end(key);
  for (const int other : truth_.touched())
    if (other != key) go_on(other, now, false);
  if (ends_.empty()) gpus_useful_ = 0; // so that rounding does not pile up over a long trace
}

} // namespace harmony
