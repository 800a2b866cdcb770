// The records of the dataset, one JSON object a line: what each gang was, where it ran, beside whom, how fast, and how
// it ended. Plain values; slurmctld and the simulator write the same. harmony-dataset(5) explains every key, and
// dataset.schema.json says what is allowed.
//
// What a job's owner claims stands in Claim and nowhere else. All other figures are the controller's own.
#pragma once

#include "src/observe/claim.h"
#include "src/observe/usage.h"
#include "src/plan/interference.h"
#include "src/values/bits.h"

#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <variant>
#include <vector>

namespace harmony {

constexpr int dataset_schema = 2; // that is written; 1, which simulations wrote before, is read too

// Which run of which gang a record is of.
struct RunId {
  std::string cluster;   // ClusterName of slurm.conf, or the name of the simulation
  std::uint32_t job = 0; // of a hetjob that of its first component
  int run = 0;           // how often the job had been requeued before

  bool operator<(const RunId &other) const {
    return std::tie(cluster, job, run) < std::tie(other.cluster, other.job, other.run);
  }
  bool operator==(const RunId &other) const { return cluster == other.cluster && job == other.job && run == other.run; }
};

// Tasks of a gang on one node.
struct TasksAt {
  std::string node;
  int workers = 0, ps = 0;
  Bits cores; // in Slurm's numbering, within the node; a neighbour's are not told
  Bits gpus;
  struct InDomain { // GPUs below one domain of the node's topology
    int domain = 0;
    Bits gpus;
  };
  std::vector<InDomain> domains;
};

// Another job on one of the gang's nodes, whether it is managed or not.
struct Neighbour {
  std::uint32_t job = 0;
  std::string type;
  int workers = 0, ps = 0, nodes = 0; // of all of it
  std::vector<TasksAt> on;            // of those nodes that it shares with the gang
};

// A node's topology, before the first record of a file that names the node.
struct NodeRecord {
  std::string cluster, node;
  std::string topology; // compact form
};

struct StartRecord {
  RunId id;
  bool resumed =
      false; // slurmctld began anew in the middle of the run; all else is as at the run's start, but for neighbours
  std::optional<std::uint32_t> array_job, array_task;
  std::vector<std::uint32_t> components; // of a hetjob: its job records
  std::string user;                      // as DatasetUsers says; empty: left out
  std::optional<std::uint32_t> user_id;  // not written: the writer makes the word of it, since that may need a disk
  std::string type;
  int workers = 0, ps = 0, gpus = 0;
  std::uint32_t epochs = 0;   // declared; 0: not
  std::uint32_t model_kb = 0; // declared; 0: not
  int cpus_per_task = 0;      // 0: not known
  std::uint32_t time_limit_min = 0;
  std::string policy;                    // that decided, or would have
  bool by_plan = false;                  // else stock chose the place
  std::string why_stock;                 // in one line; empty if by_plan
  std::string model;                     // "NAME version 3", of policy learned
  std::optional<double> predicted_speed; // of the plan, relative to running alone
  double submit_s = 0, begin_s = 0;      // seconds since 1970, of simulations since the first arrival
  std::vector<TasksAt> placement;
  std::vector<Neighbour> neighbours; // at begin_s
  bool cut = false;                  // the end of these two lists was left out: the line would have been too long
};

// A stretch of a run in which its neighbours stayed the same.
struct IntervalRecord {
  RunId id;
  std::string type;
  int workers = 0, ps = 0, nodes = 0;
  double begin_s = 0, end_s = 0;
  // Of simulations, which know them; read_intervals() works them out for real runs (see there).
  std::optional<double> epochs;         // done in it
  std::optional<double> relative_speed; // to the best that the job could have had alone
  InterferenceTerms terms;              // of its worst node
  std::vector<Neighbour> neighbours;
  bool cut = false;           // as in StartRecord
  std::optional<Claim> claim; // the owner's latest, as of end_s
};

struct EndRecord {
  RunId id;
  std::string type;
  std::string state; // COMPLETED, FAILED, CANCELLED, TIMEOUT, NODE_FAIL, PREEMPTED, REQUEUED …: Slurm's word
  double begin_s = 0, end_s = 0;
  double elapsed_s = 0;             // without the time in which it was suspended
  std::optional<double> epochs;     // those declared, if it completed; of simulations those done
  std::optional<double> mean_speed; // epochs / elapsed_s
  int requeues = 0;                 // of the job so far, this run's end among them
  int exit_code = 0;                // 128 + signal if it died of one
  bool disturbed = false;           // it was suspended or resized, so its intervals tell little
  std::optional<Claim> claim;       // the owner's last
};

// What was planned for a gang that stock placed, in mode shadow.
struct ShadowRecord {
  RunId id;
  std::string type, policy, model, verdict, reason;
  double decided_s = 0;
  std::vector<TasksAt> plan;
  bool cut = false;  // the end of the plan was left out
  bool same = false; // stock did just that
  std::optional<double> predicted_speed;
};

// What a node saw of a step of the run (harmony_spank.so observe).
struct UsageRecord {
  RunId id; // run is that of when it was received
  StepUsage usage;
};

// So many records before this one were lost.
struct GapRecord {
  std::string cluster;
  std::uint64_t lost = 0;
  double at_s = 0;
  std::string why;
};

using Record = std::variant<NodeRecord, StartRecord, IntervalRecord, EndRecord, ShadowRecord, UsageRecord, GapRecord>;

// Without the newline, and no longer than longest_record. Texts become printable ASCII and are cut, numbers are brought
// into their range (one that is none is left out, or 0 where the key must be there), and no end is before its begin, so
// that what is written can always be read.
std::string to_line(const Record &record);

// Throws std::runtime_error that says which key is wrong and how: a line that is too long, no object, of another
// schema, a key that is missing, of another kind or out of range. Keys that this version does not know are passed over.
// A line without a cluster has an empty one.
Record record_of_line(const std::string &line);

constexpr std::size_t longest_record = 1 << 20;

} // namespace harmony
