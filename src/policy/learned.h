// Places gangs by a model: task by task as its scores say, then the best of several diverse gangs, waiting among them,
// again by its scores. Whatever the model does wrong, the heuristic places the gang.
//
// Unlike the other policies it is made for one round and one thread: it keeps the features of the round's cluster.
#pragma once

#include "src/infer/breaker.h"
#include "src/infer/scorer.h"
#include "src/policy/policy.h"
#include "src/values/model_fault.h"
#include "src/values/settings.h"
#include "src/values/snapshot.h"
#include "src/values/statistics.h"

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace harmony {

// What came of asking the model in one round.
struct ModelUse {
  Breaker breaker; // as it was before, then as it is
  std::uint64_t by_model = 0;
  std::uint64_t probes = 0;
  std::uint64_t scores_computed = 0, scores_reused = 0;
  std::array<std::uint64_t, model_fault_count> faults{};
  std::array<std::string, model_fault_count> lines; // the first of each cause: what and for which job
};

// How long things took; where they are told to.
struct LearnedTimings {
  Timing *encode = nullptr;
  Timing *inference = nullptr;
  Timing *propose = nullptr;
};

// Why a round has to do without the model.
struct Unavailable {
  ModelFault fault = ModelFault::no_model;
  std::string why = "none is in service";
};

// The model, `use` and the timings must outlive it.
std::unique_ptr<Policy> make_learned(const Snapshot &snapshot, const Settings &settings, const ReadyModel &model,
                                     ModelUse &use, const LearnedTimings &timings = {});
// Each gang is the heuristic's.
std::unique_ptr<Policy> make_learned_without_model(const Snapshot &snapshot, const Settings &settings,
                                                   const Unavailable &unavailable, ModelUse &use);

constexpr const char *learned_policy = "learned";

} // namespace harmony
