// The world that emulated training runs in: a server on a Unix socket which knows the true contention model. Tasks say
// who and where they are; when a gang is whole it goes as fast as the truth lets it beside its neighbours of the
// moment, on a clock that runs `speedup` times as fast as a real one; when its epochs are done its tasks are told to
// end. A gang that loses a task is taken out. One thread; returns when all jobs of the workload are gone, or on SIGTERM
// or SIGINT.
#pragma once

#include <string>

namespace harmony {

struct WorldOptions {
  std::string scenario, workload, socket, log;
  double speedup = 1;
  double report_s = 5; // real seconds between what rank 0 hears of its epochs; 0: nothing
};

int run_world(const WorldOptions &options); // the exit code; throws std::runtime_error

} // namespace harmony
