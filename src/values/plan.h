// A plan: where each task of a gang goes, down to cores and GPUs. A decision: the plan (or that the gang waits) and
// why, as `harmony explain` shows it. Plain values.
#pragma once

#include "src/values/bits.h"

#include <cstdint>
#include <ctime>
#include <string>
#include <vector>

namespace harmony {

// The tasks of one component on one node.
struct Placement {
  int component = 0;
  int node = 0;
  std::string node_name;
  int workers = 0;
  int ps = 0;
  Bits cores; // in Slurm's numbering within the node: exactly as many as the tasks need
  Bits gpus;

  int tasks() const { return workers + ps; }
};

struct Plan {
  std::vector<Placement> placements; // by component, then by node
};

enum class Verdict {
  place,         // the plan says where
  wait,          // starting now would be worse than starting later; not beyond wait_until
  no_room,       // it does not fit now; Slurm says when it will
  left_to_stock, // the policy has no opinion, or the job is of a kind that is not planned
};
const char *verdict_name(Verdict verdict);

// One of the places that were considered for the gang.
struct Candidate {
  std::string nodes; // "n1 2+1, n2 1+0": workers + PS a node
  double score = 0;  // higher is better; comparable within one decision only
  std::string why;   // in a few words: "fewest nodes, 2 GPUs stranded"
};

// Nodes that could not be considered, and what kept them out.
struct Masked {
  std::string by;
  int nodes = 0;
};

struct Decision {
  std::uint32_t job = 0;
  std::uint32_t user = 0;
  std::string type;
  std::string policy;
  std::uint64_t round = 0;
  std::time_t decided = 0;
  Verdict verdict = Verdict::left_to_stock;
  std::string reason; // one sentence for the job's owner
  Plan plan;
  std::vector<Candidate> candidates; // best first, a few
  std::vector<Masked> masked;
  std::vector<std::string> neighbours; // "n1: job 17 (vgg16) 2+1, same PCIe switch"
  double predicted_speed = 1;          // relative to running alone, by the linear interference rule
  std::time_t wait_until = 0;          // of a gang that waits
};

} // namespace harmony
