// `harmony observe`: watches a step on its node and puts what it saw into the node's Extra field when the step ends.
// For harmony_spank.so, not for people: it is not in the help.
#pragma once

#include <string>

namespace CLI {
class App;
}

namespace harmony {

struct ObserveOptions {
  unsigned job = 0;
  std::string step;
  int pid = 0;        // the step's slurmstepd
  int every = 10;     // seconds between two looks
  unsigned nodes = 1; // of the step
  std::string node;   // its name in slurm.conf; this host's by default
  bool leash =
      false; // standard input is a socket whose other end tells us when the step is over, and is told of problems
};

CLI::App *add_observe(CLI::App &app, ObserveOptions &options);

// Does not return: a driver that hangs must not hold up the end of the process. The exit code: 0 sent, or watched for
// less than one period, so that there is nothing to send; 1 failed.
[[noreturn]] void run_observe(const ObserveOptions &options);

} // namespace harmony
