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

struct Settings {
  std::string policy = "pack";
  Manage manage = Manage::annotated;
  int interval_ms = 10000;    // Interval: a round at least so often
  int min_interval_ms = 50;   // MinInterval: and at most so often
  int round_budget_ms = 1000; // RoundBudget: gangs not planned within it wait for the next round
  int max_wait_s = 600;       // MaxWait: no decision holds a gang back for longer in all
  int keep_decisions = 10000; // KeepDecisions: how many `harmony explain` can look back
};

} // namespace harmony
