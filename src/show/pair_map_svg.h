// Which types of jobs have been seen side by side and how they did, as a heat map. May be called from any thread.
#pragma once

#include "src/record/pair_coverage.h"

#include <cstddef>
#include <string>

namespace harmony {

constexpr std::size_t most_drawn_types = 40; // those seen for longest

// Self-contained SVG 1.1: a row a victim, a column a neighbour, and one for running alone. A cell's colour is the
// victim's median speed there, its text the hours seen; pairs that were never seen are hatched.
std::string pair_map_svg(const PairCoverage &coverage, const std::string &dataset);

// 40 s, 12 min, 3.4 h, 340 h, 12k h
std::string hours_text(double seconds);

} // namespace harmony
