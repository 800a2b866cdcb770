// How busy this machine's GPUs are, asked of NVML now and then. The driver is asked on a thread of its own, so that one
// that hangs holds up nobody: what was learned until then stands. A machine without NVML has no figures and no error.
//
// PCIe throughput is measured for 20 ms a call, during which some drivers keep a core busy. So each sample asks it of
// one GPU only, all in turn; everything else is asked of all.
//
// One thread calls the members.
#pragma once

#include "src/observe/usage.h"

#include <chrono>
#include <memory>
#include <string>
#include <vector>

namespace harmony {

class NvmlUsage {
public:
  explicit NvmlUsage(std::string library = "libnvidia-ml.so.1");
  ~NvmlUsage(); // does not wait for the driver
  NvmlUsage(const NvmlUsage &) = delete;
  NvmlUsage &operator=(const NvmlUsage &) = delete;

  // Has one sample taken, and returns at once. While the driver is still at the one before, nothing is added.
  void sample();

  // Waits until the sample is taken, at most so long. False: the driver is still at it.
  bool wait(std::chrono::milliseconds limit) const;

  // Of all samples so far, by Slurm's number of the GPU, ascending; GPUs of which nothing is known are left out.
  std::vector<GpuUsage> means() const;

  // Why there are no figures; empty if there are, or might still be.
  std::string problem() const;

private:
  struct Shared;
  std::shared_ptr<Shared> shared_;
};

} // namespace harmony
