// Why a managed job was left to stock although there was a plan, or should have been one. Counted by cause in `harmony
// status`, and each is one line in slurmctld's log.
#pragma once

namespace harmony {

enum class Fallback {
  planner_unwell, // no round ended for too long: nothing is held back, nothing is steered
  gate_expired,   // no plan came within one round
  not_offered,    // Slurm does not offer the plan's nodes to the job, for more than one round
  refused,        // stock does not start the job on exactly the planned nodes and cores
  other_tasks,    // stock spread the tasks over the planned nodes in another way
  other_gpus,     // the planned GPUs are not what the job may have
};
constexpr int fallback_count = 6;

constexpr const char *fallback_name(Fallback fallback) {
  switch (fallback) {
  case Fallback::planner_unwell: return "planner_unwell";
  case Fallback::gate_expired: return "gate_expired";
  case Fallback::not_offered: return "not_offered";
  case Fallback::refused: return "refused";
  case Fallback::other_tasks: return "other_tasks";
  case Fallback::other_gpus: break;
  }
  return "other_gpus";
}

} // namespace harmony
