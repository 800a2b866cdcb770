// What the charts of the report have in common. Internal to them.
#pragma once

#include <cmath>
#include <cstddef>

namespace harmony {

constexpr std::size_t longest_label = 24; // characters of a policy's name
constexpr int wide_chart = 600;           // pixels

// The commands that every chart begins with.
constexpr const char *plain_chart = "set border 0\nset key off\nset style fill solid noborder\n"
                                    "set grid linetype 1 linecolor rgb '#e3e6ea' linewidth 1\n"
                                    "set tics textcolor rgb '#333333'\n";

inline double drawable(double value) { return std::isfinite(value) ? value : 0; }

} // namespace harmony
