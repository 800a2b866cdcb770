// A node's topology as slurmctld sees it.
#pragma once

#include "src/discover/discover.h"

namespace harmony {

// Asks the engine on the controller's host; elsewhere, or where no engine runs, says what the node published.
Discovery view_node(const std::string &node);

} // namespace harmony
