// GPU models as we name them.
#pragma once

#include <string>
#include <string_view>

namespace harmony {

// "NVIDIA A100-SXM4-80GB" becomes nvidia_a100-sxm4-80gb, the name that Slurm's own detection gives it too: lower case,
// and '_' for whatever is not one of [a-z0-9_.+-]. At most max_model_length characters.
std::string clean_model(std::string_view name);

} // namespace harmony
