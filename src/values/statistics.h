// What the planner did and how long it took: counted in slurmctld, carried as one line of JSON in the fact
// HarmonyStatistics, read by `harmony status`. Writer and reader stand together so that they keep the same words.
#pragma once

#include "src/values/fallback.h"
#include "src/values/model_fault.h"
#include "src/values/timing.h"

#include <array>
#include <atomic>
#include <cstdint>
#include <ctime>
#include <map>
#include <string>

namespace harmony {

// Every member may be changed and read from any thread.
struct Statistics {
  using Counter = std::atomic<std::uint64_t>;

  Timing lock;     // slurmctld's locks held for a snapshot
  Timing snapshot; // all of taking it, with waiting for the locks
  Timing plan;
  Timing publish;
  Timing round;
  Timing job_test; // added by us
  Timing observe;  // a job's record copied as it begins or ends, under slurmctld's locks
  // Of policy learned:
  Timing encode;    // the features of one decision
  Timing inference; // one call of the model
  Timing propose;   // one gang, all of it

  Counter rounds{0};
  Counter rounds_cut{0}; // the time budget was over
  Counter gangs_planned{0};
  Counter gangs_not_reached{0};
  Counter plans_made{0};
  Counter plans_used{0};
  Counter plans_stale{0};
  Counter waits{0};
  Counter no_room{0};
  Counter left_to_stock{0};
  Counter held{0};         // times the gate answered "busy"
  Counter shadow_same{0};  // in shadow mode, stock did what the plan says
  Counter shadow_other{0}; // it did not
  Counter settings_refused{0};
  // Of policy learned:
  Counter gangs_by_model{0}; // decisions made by the model; gangs_planned without them are the heuristic's
  Counter probes{0};         // times the model was asked in shadow, while the breaker was not closed
  Counter models_loaded{0};
  Counter models_refused{0};
  // Of what is observed:
  Counter claims_taken{0};   // progress that jobs' owners reported
  Counter claims_refused{0}; // reports that were not understood
  Counter usages_taken{0};   // what nodes saw of steps
  Counter events_lost{0};    // beginnings and ends of jobs, because the queue was full

  Counter scores_computed{0};
  Counter scores_reused{0};                              // candidates in a state that was scored before
  std::array<Counter, fallback_count> fallbacks{};       // by Fallback
  std::array<Counter, model_fault_count> model_faults{}; // by ModelFault

  std::atomic<std::time_t> since{std::time(nullptr)}; // the last reset
  std::atomic<std::time_t> last_round{0};             // 0: none yet
};

// All counts and times start again from now. last_round stays: it tells whether the planner is well.
void reset(Statistics &statistics);

// What is known besides counts.
struct StatisticsFacts {
  std::string policy;
  std::string model;         // "NAME version 3", of policy learned; "none" or empty: none is in service
  std::string model_problem; // why not, or why not the one that was wanted; empty if there is none
  std::string breaker;       // what Breaker::text says
  std::string mode;
  std::string planner; // "running", "idle: …", "not running: …", "unwell: …"
  std::string settings_file = "none";
  std::string settings_problem; // empty if it was read well
  std::string dataset;          // directory; empty: none is wanted
  std::string dataset_problem;  // why it cannot be written; empty if it can
  std::uint64_t decisions_kept = 0;
  std::uint64_t jobs_followed = 0;   // jobs that hold resources
  std::uint64_t records_written = 0; // since slurmctld's start, as the next
  std::uint64_t records_lost = 0;
  std::uint64_t dataset_bytes = 0; // of the directory
};

// One line, without a newline.
std::string statistics_json(const Statistics &statistics, const StatisticsFacts &facts);

// The same as plain values. Texts are fit to print.
struct StatisticsReport {
  bool understood = false; // false: all else is empty
  StatisticsFacts facts;
  std::map<std::string, std::uint64_t> counters;     // by the names above; all of them
  std::map<std::string, std::uint64_t> fallbacks;    // by fallback_name; all of them
  std::map<std::string, std::uint64_t> model_faults; // by model_fault_name; all of them
  std::map<std::string, TimingSummary> times;        // by the names above; all of them
  std::time_t since = 0;
  std::time_t last_round = 0;
};

// Reads what statistics_json wrote, or anything else: never throws. What is missing counts as 0 or empty, so that a
// newer command can read an older slurmctld; what is of another kind is not understood.
StatisticsReport read_statistics(const std::string &json);

} // namespace harmony
