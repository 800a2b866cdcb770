// What the engine answers on the local socket: one line in, one document out. The kernel says who asks.
#pragma once

#include "plugin/engine/rounds.h"

#include <functional>
#include <string>
#include <sys/types.h>

namespace harmony {

class Questions {
public:
  // `refresh` brings the topologies up to date before one is shown.
  Questions(PlannerState &state, std::function<void()> refresh) : state_(state), refresh_(std::move(refresh)) {}

  std::string answer(uid_t asker, const std::string &question);

private:
  std::string topology(uid_t asker, const std::string &node);
  std::string explain(uid_t asker, const std::string &job);
  std::string reset(uid_t asker);

  PlannerState &state_;
  std::function<void()> refresh_;
};

} // namespace harmony
