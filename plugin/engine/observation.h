// Observing: what happens to jobs in slurmctld becomes records of the dataset. The hooks copy a job's record under
// slurmctld's locks and put it into a bounded queue; a thread of its own makes sense of it, and the dataset's writer
// has another one, so that nobody waits for computing or for a disk.
#pragma once

#include "plugin/engine/job_events.h"
#include "plugin/engine/rounds.h"
#include "src/observe/observer.h"
#include "src/record/dataset_writer.h"

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <variant>
#include <vector>

namespace harmony {

class Observation {
public:
  Observation(PlannerState &state, Rounds &rounds);

  // The settings in force, under slurmctld's job lock; starts the thread, and looks at the jobs that run. Mode off:
  // what was followed is forgotten, since its end will not be seen.
  void set(const Settings &settings, Mode mode, const std::string &cluster);

  // Under slurmctld's job lock.
  void job_placed(const job_record_t &job);
  void job_ended(const job_record_t &job);

  // From the planning round and from the node watch.
  void claims_seen(std::vector<ClaimSeen> claims);
  void usage_seen(std::string node, std::string extra);

  // What is queued is recorded and written, for so long at most: slurmctld ends.
  void flush(int milliseconds);

  // Any thread.
  DatasetFigures figures() const { return writer_.figures(); }
  std::uint64_t followed() const { return followed_; }

private:
  struct UsageSeen {
    std::string node, extra;
  };
  struct RunningNow { // these job records hold resources, and no others
    std::set<std::uint32_t> records;
  };
  struct NewOptions { // of the dataset, once all before is recorded
    DatasetOptions options;
  };
  struct CutIntervals {};
  struct Event {
    Moment at;
    std::variant<JobPlaced, JobFreed, ClaimSeen, UsageSeen, RunningNow, NewOptions, CutIntervals> what;
  };

  template <class What> void add(What what);
  void look_at_running();
  void make_up_for_losses();
  void run();
  void handle(Event &event);
  void take(JobPlaced &placed, const Moment &at);
  void take(JobFreed &freed, const Moment &at);
  void take(ClaimSeen &seen, const Moment &at);
  void take(UsageSeen &seen, const Moment &at);
  void take(RunningNow &running, const Moment &);
  void take(NewOptions &change, const Moment &);
  void take(CutIntervals &, const Moment &at);
  std::optional<DecisionRecord> decision_on(const JobPlaced &placed) const;
  StartRecord start_of(const JobPlaced &placed, const Moment &at);
  std::optional<ShadowRecord> shadow_of(const JobPlaced &placed);
  std::vector<HeldNode> nodes_of(const JobPlaced &placed) const;
  void take_claim(std::uint32_t gang, const std::string &text);
  void follow_files();

  PlannerState &state_;
  Rounds &rounds_;
  DatasetWriter writer_;
  const Moment began_;
  std::atomic<bool> wanted_{false};
  std::atomic<bool> lost_{false}; // an event, so that what is followed may not be what runs
  std::atomic<std::uint64_t> followed_{0};

  std::mutex mutex_; // a leaf: of what follows
  std::condition_variable changed_;
  std::deque<Event> events_;
  bool busy_ = false; // an event is being handled
  std::thread thread_;
  std::size_t usage_waiting_ = 0; // of the events

  // Of the thread:
  Observer observer_;
  DatasetOptions options_;
  std::uint64_t generation_ = 0;                                // of the writer's files: the one whose nodes are named
  std::map<std::string, std::vector<std::string>> usage_known_; // by node: marks that were seen
};

} // namespace harmony
