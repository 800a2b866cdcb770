// Follows every job that holds resources and makes the records of the gangs among them that are managed: their starts,
// the intervals in which their neighbours stay the same, and their ends. Told what happened and when, it tells what to
// record; slurmctld and the simulator use it alike. For one thread.
#pragma once

#include "src/record/records.h"
#include "src/values/topology.h"

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace harmony {

// The time by both clocks. A run keeps to the steady one, so that its intervals neither overlap nor go backwards when
// somebody sets the other.
struct Moment {
  double wall_s = 0; // since 1970
  double steady_s = 0;
};

// As it was planned; without domains.
TasksAt tasks_at(const Placement &placement);

// What a job holds on one node.
struct HeldNode {
  TasksAt tasks; // its domains are worked out
  int cores = 0; // how many it holds; tasks.cores says which, where that is known
  int node_cores = 0, node_gpus = 0;
  std::shared_ptr<const Topology> topology; // may be null
};

// A job record of Slurm holds resources from now on: a whole gang, or a component of a hetjob.
struct JobBegan {
  std::uint32_t record = 0; // the id of this job record
  int records = 1;          // of the gang
  bool managed = false;     // others are only seen as neighbours
  StartRecord start;        // of the gang; placement, domains, neighbours and GPUs are worked out
  std::vector<HeldNode> nodes;
  std::optional<ShadowRecord> shadow;
  std::optional<Claim> old_claim; // of an earlier run: it stays in the job's field until there is another
};

struct JobEnded {
  std::uint32_t gang = 0, record = 0;
  std::string state;
  bool requeued = false; // it will run again
  int exit_code = 0;
  double started_s = 0;   // when its nodes were ready, which may be long after it began to hold them; 0: not known
  double suspended_s = 0; // of its time since it began
  bool resized = false;
};

class Observer {
public:
  using Put = std::function<void(const Record &)>;
  // Is asked for what only a simulation knows: fills in epochs and relative_speed.
  using Measure = std::function<void(IntervalRecord &)>;
  // Shorter intervals are not recorded: they tell nothing, and where jobs come and go all the time they are many.
  explicit Observer(Put put, double shortest_interval_s, Measure measure = {})
      : put_(std::move(put)), measure_(std::move(measure)), shortest_interval_s_(shortest_interval_s) {}

  // A job that is followed already is passed over: a reconfigured slurmctld allocates anew what runs.
  void began(JobBegan job, const Moment &now);
  // Whether it is of a managed gang, and new.
  bool claimed(std::uint32_t gang, const Claim &claim);
  void ended(const JobEnded &job, const Moment &now);
  bool used(const StepUsage &usage); // whether it was recorded

  // Only these job records hold resources; of all others the end was missed, and none is recorded.
  void keep_only(const std::set<std::uint32_t> &records);

  // Intervals longer than this end, whether anything changed or not.
  void cut_longer_than(double seconds, const Moment &now);

  // The records go to a new file from now on, which has to name its nodes anew.
  void name_nodes_again() { named_nodes_.clear(); }

  std::size_t followed() const { return gangs_.size(); }

private:
  struct Followed {
    JobBegan job;                         // with the nodes of all its records
    std::set<std::uint32_t> began, ended; // of its records
    Moment at;                            // of its beginning
    double since_s = 0;                   // when the interval began
    bool whole = false;                   // all its records hold resources, and the start is recorded
    InterferenceTerms terms;
    std::vector<Neighbour> neighbours;
    std::optional<Claim> claim;
    JobEnded end;
  };
  struct Ended { // for what its nodes tell later
    RunId id;
    std::set<std::uint32_t> records;
    std::map<std::string, Bits> gpus; // by node
  };

  static double time_of(const Followed &gang, const Moment &now);
  static Ended what_stays_known(const Followed &gang);
  void hold(const JobBegan &job, Followed &gang);
  void start(Followed &gang, const Moment &now);
  void name_nodes(const Followed &gang);
  void begin_interval(Followed &gang, double now_s);
  void end_interval(Followed &gang, double now_s);
  void finish(Followed &gang, const Moment &now);
  void neighbours_changed(const std::vector<std::string> &nodes, std::uint32_t by, const Moment &now);
  std::vector<Neighbour> neighbours_of(const Followed &gang) const;
  InterferenceTerms terms_of(const Followed &gang) const;
  void forget(std::uint32_t gang);
  void remember_ended(const Followed &gang);

  Put put_;
  Measure measure_;
  const double shortest_interval_s_;
  std::map<std::uint32_t, Followed> gangs_;                // by gang
  std::map<std::string, std::set<std::uint32_t>> on_node_; // gangs, by node
  struct Named {
    std::shared_ptr<const Topology> topology;
    std::string compact;
  };
  std::map<std::string, Named> named_nodes_; // in the file that is written
  std::deque<Ended> ended_;                  // the latest, oldest first
  std::size_t ended_nodes_ = 0;              // of all of them
};

} // namespace harmony
