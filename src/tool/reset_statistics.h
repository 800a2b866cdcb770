// `harmony status --reset`: begins the engine's counts and times anew.
#pragma once

namespace harmony {

// The exit code: 0 done, 1 slurmctld or its engine does not answer, or the asker may not, 3 the overlay is not loaded.
int reset_statistics();

} // namespace harmony
