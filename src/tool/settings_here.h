// The settings of the harmony.conf that slurmctld reads on this host; the defaults if there is none, or it is not sound.
#pragma once

#include "src/values/settings.h"

namespace harmony {

Settings settings_here();

} // namespace harmony
