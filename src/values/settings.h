// What harmony.conf says. Every key has a good default, so the file may be absent. A plain value.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace harmony {

enum class Manage {
  annotated, // jobs with a --harmony-* option
  gpu,       // every job that asks for GPUs
};

// How the dataset names whose job it was.
enum class DatasetUsers { none, hash, name };

// $(localstatedir)/lib/slurm-harmony/models and …/dataset
extern const char *const default_model_store;
extern const char *const default_dataset;
// $(pkgdatadir)/models/shipped: what policy learned takes as long as no version of a store was taken in use
extern const char *const shipped_model;

struct Settings {
  std::string policy = "learned";
  std::string heuristic = "pack"; // Heuristic: who places a gang when policy learned has no answer
  Manage manage = Manage::annotated;
  int interval_ms = 10000;        // Interval: a round at least so often
  int min_interval_ms = 50;       // MinInterval: and at most so often
  int round_budget_ms = 1000;     // RoundBudget: gangs not planned within it wait for the next round
  int inference_budget_ms = 2000; // InferenceBudget: no round waits longer for the model; default RoundBudget + 1 s
  int max_wait_s = 3600;          // MaxWait: no decision holds a gang back for longer in all
  int candidates = 12;            // Candidates: whole gangs that policy learned compares, besides waiting
  int promises = 8;               // no key: gangs without room that backfill is taken to keep nodes for
  int keep_decisions = 10000;     // KeepDecisions: how many `harmony explain` can look back
  std::string model_store = default_model_store; // ModelStore: where policy learned finds its model
  int breaker_pause_ms = 30000;          // BreakerPause: a model that keeps failing is at first not asked for so long
  std::string dataset = default_dataset; // Dataset: where what happened is written; empty: nowhere
  std::uint64_t dataset_max_bytes = std::uint64_t{1} << 30; // DatasetMaxSize: the oldest files go beyond it
  DatasetUsers dataset_users = DatasetUsers::hash;          // DatasetUsers
};

} // namespace harmony
