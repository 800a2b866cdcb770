// `harmony topology`: this machine's topology, or another's, shown, drawn, turned into gres.conf lines or published.
#pragma once

#include <string>

namespace harmony {

struct TopologyOptions {
  // Where it comes from; this machine if all are empty.
  std::string xml;       // an hwloc export
  std::string synthetic; // a built-in profile
  std::string node;      // as slurmctld sees this node

  // What is done with it; a table is printed if nothing is said.
  bool json = false;
  bool gres = false;
  bool compact = false;
  std::string svg; // a file
  bool publish = false;

  std::string as;      // the node's name in slurm.conf; this host's by default
  int wait = 0;        // seconds to wait for a slurmctld that does not answer
  bool syslog = false; // errors go there too
};

// The exit code: 0 done, 1 failed. Errors go to stderr as `harmony topology: ...`.
int run_topology(const TopologyOptions &options);

} // namespace harmony
