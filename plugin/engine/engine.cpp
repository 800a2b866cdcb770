// The engine: what slurmctld gets beyond the overlay's delegation.
//
// Threads: set_mode runs under slurmctld's write locks, job_test, job_placed and job_ended under its job and node write
// locks, report on any RPC thread; node_watch.h, rounds.h and observation.h have one thread each, and the dataset's
// writer another. What they share is PlannerState.

#include "plugin/engine/engine_api.h"
#include "plugin/engine/border.h"
#include "plugin/engine/enforcer.h"
#include "plugin/engine/node_watch.h"
#include "plugin/engine/observation.h"
#include "plugin/engine/site_settings.h"

#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <new>
#include <string>

namespace harmony {
namespace {

constexpr int flush_ms = 2000; // that slurmctld's end may wait for the dataset

struct Engine {
  WallLog wall;
  std::atomic<std::uint64_t> job_tests{0};
  PlannerState planner;
  Rounds rounds{planner};
  Enforcer enforcer{planner, rounds};
  Observation observation{planner, rounds};
  std::mutex settings_mutex; // of what set_mode writes and report reads
  SiteSettings settings;

  Engine() {
    planner.claims_seen = [this](std::vector<ClaimSeen> claims) { observation.claims_seen(std::move(claims)); };
    planner.usage_seen = [this](std::string node, std::string extra) {
      observation.usage_seen(std::move(node), std::move(extra));
    };
  }
};

// Never destroyed: threads use it while slurmctld exits. In static memory: to make it cannot fail, so that it may be
// named outside the wall.
Engine &engine() {
  alignas(Engine) static unsigned char memory[sizeof(Engine)];
  static Engine *const the_engine = new (memory) Engine;
  return *the_engine;
}

// Under settings_mutex.
void take_settings() {
  if (!engine().settings.problem().empty()) ++engine().planner.statistics.settings_refused;
  engine().planner.set_settings(engine().settings.in_force());
  engine().observation.set(engine().settings.in_force(), engine().planner.mode,
                           slurm_conf.cluster_name ? slurm_conf.cluster_name : "");
  info("harmony: engine " HARMONY_VERSION " ready, mode %s, policy %s", mode_name(engine().planner.mode),
       engine().settings.in_force().policy.c_str());
  engine().rounds.wake();
}

bool set_mode(Mode mode) {
  return guarded(engine().wall, "set_mode", false, [mode] {
    const std::lock_guard lock(engine().settings_mutex);
    engine().settings.read();
    engine().planner.mode = mode;
    engine().planner.slurm_user = slurm_conf.slurm_user_id;
    engine().rounds.read_model_again();
    take_settings();
    watch_nodes(engine().planner);
    return true;
  });
}

void look_again() {
  guarded(engine().wall, "look_again", "the last good configuration stays", [] {
    const std::lock_guard lock(engine().settings_mutex);
    if (engine().settings.read_if_changed()) take_settings();
  });
}

bool start_rounds() {
  return guarded(
      engine().wall, "start_rounds", false,
      [] {
        engine().rounds.start();
        return true;
      },
      "there are no plans, stock decides");
}

void stop_rounds() {
  guarded(engine().wall, "stop_rounds", "going on", [] {
    engine().rounds.stop();
    engine().observation.flush(flush_ms);
  });
}

bool job_test(const JobTest &call, StockJobTest stock, int *answer) {
  return guarded(engine().wall, "job_test", false, [&call, stock, answer] {
    engine().job_tests.fetch_add(1, std::memory_order_relaxed);
    return engine().enforcer.job_test(call, stock, answer);
  });
}

void job_placed(job_record_t *job) {
  guarded(engine().wall, "job_placed", "the job runs as allocated", [job] {
    engine().enforcer.job_placed(*job);
    engine().observation.job_placed(*job);
  });
}

void job_ended(job_record_t *job) {
  guarded(engine().wall, "job_ended", "the next round sees it", [job] {
    engine().enforcer.job_ended(*job);
    engine().observation.job_ended(*job);
  });
}

std::string planner_state() {
  if (engine().planner.mode == Mode::off) return "idle: mode off";
  const std::string unwell = engine().rounds.unwell();
  return unwell.empty() ? "running" : "unwell: " + unwell;
}

StatisticsFacts facts() {
  const std::lock_guard lock(engine().settings_mutex);
  StatisticsFacts facts;
  facts.policy = engine().settings.in_force().policy;
  if (facts.policy == learned_policy) {
    facts.model = engine().rounds.model();
    facts.model_problem = engine().rounds.model_problem();
    facts.breaker = engine().rounds.breaker();
  }
  facts.mode = mode_name(engine().planner.mode);
  facts.planner = planner_state();
  facts.settings_file = engine().settings.file();
  facts.settings_problem = engine().settings.problem();
  facts.decisions_kept = engine().planner.decisions.size();
  const DatasetFigures dataset = engine().observation.figures();
  facts.dataset = engine().settings.in_force().dataset;
  facts.dataset_problem = dataset.problem;
  facts.jobs_followed = engine().observation.followed();
  facts.records_written = dataset.written;
  facts.records_lost = dataset.lost;
  facts.dataset_bytes = dataset.directory_bytes;
  return facts;
}

void report(void (*tell)(void *to, const char *name, const char *value), void *to) {
  guarded(engine().wall, "report", false, [tell, to] {
    tell(to, "HarmonyJobTests", std::to_string(engine().job_tests.load(std::memory_order_relaxed)).c_str());
    tell(to, "HarmonyExceptions", std::to_string(engine().wall.caught()).c_str());
    const TopologyStore::Counts nodes = engine().planner.topologies.counts();
    tell(to, "HarmonyTopology",
         fmt::format("{} nodes: {} published, {} from gres.conf, {} without; {} read, {} refused", nodes.nodes,
                     nodes.published, nodes.gres_conf, nodes.none, nodes.updates, nodes.refused)
             .c_str());
    tell(to, "HarmonyStatistics", statistics_json(engine().planner.statistics, facts()).c_str());
    return true;
  });
}

} // namespace
} // namespace harmony

extern "C" {
extern const harmony::EngineApi harmony_engine;
const harmony::EngineApi harmony_engine = {
    harmony::engine_layout, SLURM_VERSION_NUMBER, HARMONY_VERSION,     harmony::set_mode,
    harmony::look_again,    harmony::job_test,    harmony::job_placed, harmony::job_ended,
    harmony::start_rounds,  harmony::stop_rounds, harmony::report,
};
}
