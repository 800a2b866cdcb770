// Why a gang was placed by the heuristic although a model is in service. Counted by cause in `harmony status`, one
// rate-limited line each in slurmctld's log.
#pragma once

namespace harmony {

enum class ModelFault {
  no_model,            // none is loaded: the store is empty, or what CURRENT names was refused
  late,                // it did not answer before the deadline, or is still busy with an answer that nobody wants
  failed,              // it threw
  wrong_shape,         // it answered, but not one score a row
  not_finite,          // a score is NaN or infinite
  not_feasible,        // what it chose does not fit, by our own arithmetic, or the gang is not whole
  out_of_distribution, // a feature is beyond the range it was trained on
  breaker_open,        // several faults in a row: it is not asked until a probe in shadow went well
};
constexpr int model_fault_count = 8;

constexpr const char *model_fault_name(ModelFault fault) {
  switch (fault) {
  case ModelFault::no_model: return "no_model";
  case ModelFault::late: return "late";
  case ModelFault::failed: return "failed";
  case ModelFault::wrong_shape: return "wrong_shape";
  case ModelFault::not_finite: return "not_finite";
  case ModelFault::not_feasible: return "not_feasible";
  case ModelFault::out_of_distribution: return "out_of_distribution";
  case ModelFault::breaker_open: break;
  }
  return "breaker_open";
}

} // namespace harmony
