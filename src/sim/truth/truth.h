// The ground truth of a simulation: how fast each job really goes, given who runs where. Policies never see it, but for
// the oracles. For one thread.
#pragma once

#include "src/values/bits.h"
#include "src/values/plan.h"
#include "src/values/gang.h"

#include <memory>
#include <string>
#include <vector>

namespace harmony {

// The tasks of a job on one node.
struct TasksOn {
  int node = 0;
  int workers = 0;
  int ps = 0;
  int cores = 0;
  Bits gpus;
};

// A job as the truth sees it. Without PS its workers exchange by ring all-reduce.
struct Occupant {
  std::string type;
  int workers = 0;
  int ps = 0;
  std::vector<TasksOn> where; // a node once, ascending
};

// Where the plan puts the gang; components on one node are one entry.
Occupant occupant(const Gang &gang, const Plan &plan);

class Truth {
public:
  virtual ~Truth() = default;

  // One line for reports: "mechanistic", "tables (pairs combined by product)".
  virtual std::string title() const = 0;

  // The same rules on the same cluster, with nothing running.
  virtual std::unique_ptr<Truth> empty() const = 0;

  // A job begins or ends; `key` is the caller's, small and dense, and may be used again after its end.
  virtual void start(int key, const Occupant &job) = 0;
  virtual void end(int key) = 0;

  // The jobs whose speed the last start or end may have changed (the started one among them), ascending.
  virtual const std::vector<int> &touched() const = 0;

  // Epochs a second, now; above 0.
  virtual double speed(int key) const = 0;

  // Epochs a second of such a job at that place, were nobody else there.
  virtual double alone(const Occupant &job) const = 0;
};

} // namespace harmony
