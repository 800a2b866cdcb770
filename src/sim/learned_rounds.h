// Rounds by a model, as slurmctld plans them, for a simulation.
#pragma once

#include "src/infer/scorer.h"
#include "src/sim/simulate.h"

#include <memory>
#include <string>

namespace harmony {

// The model of a directory, checked, loaded and warmed up; nobody else asks it. Throws std::runtime_error.
std::shared_ptr<const ReadyModel> model_of_directory(const std::string &directory, const std::string &torch_library);

// For one thread, as the model is. Gangs that the guard refuses are the heuristic's.
PlanRound learned_rounds(std::shared_ptr<const ReadyModel> model, const Settings &settings);

} // namespace harmony
