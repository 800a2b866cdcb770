// Where lines for the admin go: slurmctld's log, a terminal, a test.
#pragma once

#include <functional>
#include <string>

namespace harmony {

enum class Loudness { info, error };
using Say = std::function<void(Loudness loudness, const std::string &line)>;

} // namespace harmony
