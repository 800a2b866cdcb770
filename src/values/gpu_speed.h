// How fast GPU models compute, from published figures: what is assumed where nobody measured.
#pragma once

#include <string>

namespace harmony {

// The reference (V100) is 1, and so are models that are not known.
double gpu_speed(const std::string &model);

} // namespace harmony
