// Putting what was seen of a step into its node's Extra field.
#pragma once

#include "src/observe/usage.h"

#include <functional>
#include <string>

namespace harmony {

// Several steps may end on a node at the same time, so a lock is held from reading the field to writing it. While
// slurmctld does not answer it is tried again, a few times within a few minutes at most; `not_yet` is told why after
// the first time. Empty, or why it could not be sent.
std::string send_usage(const StepUsage &usage, const std::function<void(const std::string &problem)> &not_yet);

} // namespace harmony
