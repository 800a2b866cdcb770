// Runs of jobs as sacct knows them, told again as a dataset tells them: in the order of time, each with its neighbours.
// For one thread.
#pragma once

#include "src/record/records.h"

#include <functional>
#include <vector>

namespace harmony {

struct SacctRun {
  StartRecord start; // neighbours are found here
  EndRecord end;
  bool is_gang = false; // else it is a neighbour and nothing more
  bool has_ended = false;
};

// Start, end and, of gangs whose nodes are known, intervals.
void tell_in_order(std::vector<SacctRun> runs, const std::function<void(const Record &)> &tell);

} // namespace harmony
