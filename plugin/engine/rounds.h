// The planning rounds: a thread beside stock backfill that looks, plans without any lock, publishes the plans whole and
// asks the main scheduler to run.
//
// start() and stop() come from the sched overlay, as slurmctld becomes or ceases to be the one in charge; wake() from
// anywhere, also under slurmctld's locks.
#pragma once

#include "plugin/engine/slurm_snapshot.h"
#include "src/infer/model_source.h"
#include "src/plan/decision_log.h"
#include "src/plan/gate.h"
#include "src/plan/holds.h"
#include "src/plan/plan_table.h"
#include "src/policy/model_rounds.h"
#include "src/publish/node_table.h"
#include "src/publish/topology_store.h"
#include "src/values/mode.h"
#include "src/values/settings.h"
#include "src/values/statistics.h"

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

namespace harmony {

// What the rounds and job_test share.
struct PlannerState {
  TopologyStore topologies;
  NodeTable nodes;
  DecisionLog decisions;
  Statistics statistics;
  Gate gate;
  std::atomic<Mode> mode{Mode::off};
  std::atomic<uid_t> slurm_user{0};         // as slurm.conf says
  std::atomic<std::uint64_t> epoch{0};      // everything that gave resources back
  std::atomic<std::uint64_t> starts{0};     // jobs that started
  std::atomic<bool> schedule_wanted{false}; // a job was held: the main scheduler has to come again

  // Who wants to know what jobs' owners and nodes have to tell. Set before there is any thread.
  std::function<void(std::vector<ClaimSeen>)> claims_seen;
  std::function<void(std::string node, std::string extra)> usage_seen;

  std::shared_ptr<PlanTable> plans() const { return std::atomic_load(&table_); }
  void publish(std::shared_ptr<PlanTable> plans) { std::atomic_store(&table_, std::move(plans)); }

  // The settings in force; replaced whole.
  std::shared_ptr<const Settings> settings() const { return std::atomic_load(&settings_); }
  void set_settings(const Settings &settings);

  // The gate holds a job until the next round has ended, which begins after such a pause.
  void set_gate(const Settings &settings, std::int64_t pause_ms);

private:
  std::shared_ptr<PlanTable> table_;
  std::shared_ptr<const Settings> settings_ = std::make_shared<Settings>();
};

class Rounds {
public:
  explicit Rounds(PlannerState &state);

  void start();
  void stop();

  // Something happened that a round should see.
  void wake();

  // Policy learned: slurmctld was reconfigured, so the model is read again. And what is to be told of it; from any
  // thread.
  void read_model_again() { models_.look_again(); }
  std::string model() const { return models_.title(); }
  std::string model_problem() const { return models_.problem(); }
  std::string breaker() const { return model_rounds_.breaker(); }

  std::uint64_t begun() const { return begun_; }
  std::uint64_t ended() const { return ended_; }

  // Empty if rounds come as they should; else why not.
  std::string unwell() const;

private:
  void run();
  void round();
  bool wait_for_next();
  std::int64_t pause_ms(const Settings &settings) const;
  RoundResult plan(const std::shared_ptr<const SnapshotTaken> &taken, const Settings &settings, std::uint64_t number);
  void record(const std::vector<Decision> &decisions);

  PlannerState &state_;
  SnapshotTaker taker_; // of the thread, as are the next three
  Holds holds_;
  ModelSource models_;
  ModelRounds model_rounds_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool woken_ = false;
  bool stopping_ = false;
  bool alive_ = false; // there is a thread
  std::condition_variable ended_thread_;
  std::thread thread_;
  std::atomic<bool> running_{false};
  std::atomic<std::uint64_t> begun_{0}, ended_{0};
  std::atomic<std::int64_t> last_sign_of_life_{0};
  std::int64_t last_begin_ = 0, planned_for_ = 0; // of the thread alone
};

} // namespace harmony
