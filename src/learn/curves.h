// The curves of a training as one page that needs no network. Pure.
#pragma once

#include "src/learn/trainer.h"

#include <string>
#include <vector>

namespace harmony {

std::string curves_html(const std::string &title, const std::vector<Curve> &curves);

} // namespace harmony
