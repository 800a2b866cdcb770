// Observing: what happens to jobs in slurmctld becomes records of the dataset. The hooks copy a job's record under
// slurmctld's locks and put it into a bounded queue; a thread of its own makes sense of it, and the dataset's writer
// has another one, so that nobody waits for computing or for a disk.
#pragma once

#include "plugin/engine/job_events.h"
#include "plugin/engine/rounds.h"
#include "src/observe/observer.h"
#include "src/record/dataset_writer.h"
#include "src/record/user_words.h"

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <thread>
#include <variant>
#include <vector>

namespace harmony {

class Observation {
public:
  Observation(PlannerState &state, Rounds &rounds);

  // The settings in force, from set_mode; starts the thread. Mode off: what was followed is forgotten, since its end
  // will not be seen.
  void set(const Settings &settings, Mode mode, const std::string &cluster);

  // Jobs that run already, of which no hook tells when slurmctld begins or when we are turned on; those that are
  // followed stay as they are. Under slurmctld's job lock, as the next two.
  void look_at_running();

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
  struct Forget {};
  struct Event {
    Moment at;
    std::variant<JobPlaced, JobFreed, ClaimSeen, UsageSeen, Forget> what;
  };

  template <class What> void add(What what);
  void run();
  void handle(Event &event);
  void take(JobPlaced &placed, const Moment &at);
  void take(JobFreed &freed, const Moment &at);
  void take(ClaimSeen &seen, const Moment &at);
  void take(UsageSeen &seen, const Moment &at);
  void take(Forget &, const Moment &);
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
  std::atomic<bool> new_directory_{false};
  std::atomic<std::uint64_t> followed_{0};

  std::mutex mutex_; // a leaf: of what follows
  std::condition_variable changed_;
  std::deque<Event> events_;
  bool busy_ = false; // an event is being handled
  std::thread thread_;
  std::string cluster_, directory_;

  // Of the thread:
  Observer observer_;
  UserWords users_;
  std::uint64_t generation_ = 0;                                // of the writer's files
  std::map<std::string, std::vector<std::string>> usage_known_; // by node: marks that were seen
};

} // namespace harmony
