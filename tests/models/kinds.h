// The models that tests/models/make_models.cpp can write.
#pragma once

#include <string>

namespace models {

struct Wanted {
  std::string kind = "linear";
  int types = 4, job = 4, candidate = 8, gang = 6;
  std::string candidate_weights, gang_weights; // "3=1,7=-2.5"; columns that are not named weigh nothing
};

// Their names, with commas between them; "all" writes every one into a directory, NAME.pt.
std::string kinds();

// Throws std::exception with one line or more.
void write(const Wanted &wanted, const std::string &file);

} // namespace models
