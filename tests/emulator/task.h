// What each task of an emulated job runs: it tells the world where Slurm put it, waits until its gang's epochs are
// done, and reports progress on the way if it is rank 0. One thread.
#pragma once

#include <cstdint>
#include <string>

namespace harmony {

struct TaskOptions {
  std::string world; // the socket
  std::uint32_t job = 0;
  std::string harmony; // the command that reports progress; empty: nothing is reported
};

int run_task(const TaskOptions &options); // the exit code; throws std::runtime_error

} // namespace harmony
