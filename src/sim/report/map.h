// The map of the cluster over time: who shared which node and domain, coloured by slowdown. As data for the page's
// script, and as small pictures for print and for browsers without scripts. Everything may be called from any thread.
#pragma once

#include "src/sim/result.h"

#include <json/value.h>

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace harmony {

// What of a comparison the page can hold.
struct MapExtent {
  int nodes = 0;          // the first so many
  std::size_t stride = 1; // every so-manieth frame
};
MapExtent map_extent(const Comparison &comparison, std::size_t most_cells);

bool has_map(const Comparison &comparison);

// For report_map_script(). The policies come best first.
Json::Value map_data(const Comparison &comparison, const MapExtent &extent);

// One policy, a few moments side by side; HTML. `policy` is an index of the summaries.
std::string map_pictures(const Comparison &comparison, const MapExtent &extent, std::size_t policy);

// The bins of slowdown, mildest first.
struct SlowdownBin {
  double below; // up to here
  const char *colour;
  const char *label;
};
const std::vector<SlowdownBin> &slowdown_bins();

} // namespace harmony
