// The policies of a comparison, by name.
#pragma once

#include "src/sim/compare.h"

#include <string>
#include <vector>

namespace harmony {

constexpr const char *bound_policy = "no-interference"; // every job at its best, whoever is beside it

struct ContenderNeeds {
  Settings settings;
  std::string dataset;       // directory that fitted policies are fitted from; empty: none
  std::string model;         // directory of the model of policy learned; empty: none
  std::string torch_library; // harmony_torch.so, for that
};

// Throws std::runtime_error for a name that is not known, a name twice, or a need that is not met. `truth` is asked for
// nothing but that.
std::vector<Contender> make_contenders(const std::vector<std::string> &names, const ContenderNeeds &needs,
                                       const Truth &truth);

} // namespace harmony
