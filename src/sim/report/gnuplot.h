// Charts as SVG, drawn by gnuplot in a process of its own. For one thread.
#pragma once

#include <string>
#include <vector>

namespace harmony {

// What goes into one chart. gnuplot reads `commands` as a program: names of others go in as text().
struct Drawing {
  int width = 560, height = 320;
  std::string commands;           // without terminal and output; only numbers and words of ours
  std::string title, description; // for those who cannot see it; as in the page, escaped

  // A place that is filled in after gnuplot has drawn: gnuplot never sees the text. `shown` is escaped.
  std::string text(const std::string &shown);
  std::vector<std::string> texts;

  std::vector<std::string> plots; // their names, shown when one is pointed at; escaped; may be fewer than there are
};

// In their order, for the inside of an HTML page: ids that no other of them has, no version, no scripts. Throws
// std::runtime_error: gnuplot is not installed, or failed, with what it said.
std::vector<std::string> draw(const std::vector<Drawing> &drawings);

} // namespace harmony
