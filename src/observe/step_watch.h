// Watches what a step does on this node and sums it up. For one thread; look() takes a millisecond or so and waits for
// nobody, the GPUs' driver least of all.
#pragma once

#include "src/discover/nvml_usage.h"
#include "src/observe/nic_bytes.h"
#include "src/observe/process_tree.h"
#include "src/observe/usage.h"

#include <sys/types.h>

namespace harmony {

class StepWatch {
public:
  // `pid` is the step's slurmstepd: all that descends from it is the step's. Its first look is taken here.
  explicit StepWatch(pid_t pid);

  bool is_there() const { return there_; } // the pid; if it is not, nothing more will come

  // The GPUs are not asked at the first look, so that a step that is over at once need not wake their driver.
  void look();
  void last_look(); // without the GPUs, whose figures are of now and not of the time since

  // From the first look to the last at which the pid was there. Job, step and node are the caller's to fill in.
  StepUsage sum_up() const;

private:
  bool look_at_node();

  ProcessTree tree_;
  NicBytes nics_;
  NvmlUsage gpus_;
  bool there_ = false;
  std::int64_t begin_s_ = 0;
  double first_ = 0, last_ = 0; // seconds of a clock that nobody sets
};

} // namespace harmony
