// What simulations found out, as the table, the JSON and the report show it. Plain values.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace harmony {

struct JobResult {
  std::uint32_t job = 0;
  std::string type;
  int workers = 0, ps = 0, gpus = 0;
  double submit_s = 0, start_s = 0, end_s = 0;
  double best_s = 0;  // how long it would have run alone at its best (best_place.h)
  double place_s = 0; // how long it would have run alone where it ran
  int nodes = 0;
  bool backfilled = false; // it went before one that came earlier in the queue

  double jct() const { return end_s - submit_s; }
  double waited() const { return start_s - submit_s; }
  double ran() const { return end_s - start_s; }
  double slowdown() const { return best_s > 0 ? ran() / best_s : 1; }
};

// The cluster at one moment, and from then on.
struct Usage {
  double at_s = 0;
  int gpus_allocated = 0;
  double gpus_useful = 0; // each allocated GPU by its job's speed relative to the best
  int pending = 0;
  int gpus_stranded = 0; // free ones on nodes with jobs
};

// Who ran where at one moment: for the map of the report.
struct MapFrame {
  double at_s = 0;
  struct Cell {
    int node = 0;
    int domain = 0; // index of the topology's domain; -1: tasks without GPUs
    std::uint32_t job = 0;
    int gpus = 0;
    int ps = 0;
    double slowdown = 1; // of the job, now
  };
  std::vector<Cell> cells;
};

// One policy on one workload.
struct SimResult {
  std::string policy;
  std::uint64_t seed = 0;
  std::vector<JobResult> jobs; // in the order of their ends
  std::vector<Usage> usage;    // a few hundred moments, evenly
  std::vector<MapFrame> map;   // a few dozen, of the first seed only
  double makespan_s = 0;
  double gpus_allocated = 0; // mean part of all GPUs, from the first arrival to the last
  double gpus_useful = 0;
  double gpus_stranded = 0;
  std::vector<double> decision_us; // time per gang looked at; empty unless asked for, since it differs from run to run
  std::uint64_t rounds = 0, gangs_looked_at = 0, events = 0, waits = 0, left_to_stock = 0;
};

// A mean over workloads with its 95 % interval (Student's t): mean - half to mean + half.
struct Mean {
  double mean = 0;
  double half = 0;
};

struct PolicySummary {
  std::string policy;
  int workloads = 0;
  Mean mean_jct, median_jct, p95_jct, p99_jct;
  Mean waiting, running, makespan, slowdown;
  Mean fairness_mean, fairness_max; // finish-time fairness: JCT shared / JCT with an n-th of the cluster to itself
  Mean gpus_allocated, gpus_useful, gpus_stranded;
  std::string best_baseline; // of those compared, but itself: the least mean JCT over all seeds; empty: none
  Mean against_best;         // mean JCT relative to that one's, seed by seed: 0.9 is 10 % better
  Mean gap_closed;           // part of the way from that one's mean JCT to that without interference
  bool knows_gap = false;    // policy no-interference was among those compared
};

// Neither an oracle nor the bound nor a learned policy: what those are compared with.
bool is_baseline(const std::string &policy);

// One scenario at one load: every policy on the same workloads.
struct Comparison {
  std::string scenario;
  std::string truth; // its title
  std::string order; // of the queue
  double load = 0;   // 0: as the trace has it
  int nodes = 0, gpus = 0;
  std::size_t jobs = 0; // of a workload
  std::vector<std::string> node_names;
  using NodeShape = std::vector<std::pair<int, int>>; // domain and how many GPUs are right below it, ascending
  std::vector<NodeShape> node_shapes;                 // by node
  std::string command;                                // that does it again
  std::vector<std::vector<SimResult>> results;        // by policy, then by seed
  std::vector<PolicySummary> summaries;               // by policy
  bool live = false;                                  // ran on a real Slurm, its jobs emulated (contrib/compare)
};

} // namespace harmony
