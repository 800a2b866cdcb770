// The one way in which the command asks the engine on slurmctld's host.
#pragma once

#include "src/values/controller_report.h"

#include <string>

namespace harmony {

struct EngineAnswer {
  std::string text;
  std::string problem; // nobody answers here, or somebody who is neither root nor SlurmUser; empty on success
};
EngineAnswer ask_engine(const ControllerReport &report, const std::string &question);

} // namespace harmony
