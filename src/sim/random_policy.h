// "random": each task on any node that has room, all nodes alike. The same seed and job give the same choice, whatever
// was asked before; it may be asked from any thread.
#pragma once

#include "src/policy/policy.h"

#include <cstdint>
#include <memory>

namespace harmony {

std::unique_ptr<Policy> make_random(std::uint64_t seed);

} // namespace harmony
