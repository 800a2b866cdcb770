// The names in a model store, and the reading of CURRENT: what its reader and its writer share.
#pragma once

#include "src/store/secure_file.h"

#include <string>
#include <vector>

namespace harmony {

constexpr const char *current_name = "CURRENT";
constexpr const char *model_name = "model.pt";
constexpr const char *manifest_name = "manifest.json";
constexpr const char *card_name = "MODEL_CARD.md";

struct CurrentReading {
  std::vector<int> versions; // not empty if there is no problem
  std::string problem;
  bool missing = false;
};

CurrentReading read_current_file(const OpenDirectory &store, const Trust &trust);

} // namespace harmony
