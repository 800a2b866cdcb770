// Reads the table that calibrate() fits to. Nothing in it is trusted. For one thread.
#pragma once

#include "src/sim/truth/calibrate.h"

#include <map>
#include <string>
#include <vector>

namespace harmony {

// By our names of the types; the entries of a type by GPUs, then by nodes. Throws std::runtime_error with the file and
// the entry.
std::map<std::string, std::vector<Measured>> read_measured(const std::string &path);

} // namespace harmony
