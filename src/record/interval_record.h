// The dataset's records of how fast a gang went while its neighbours stayed the same, as JSON lines. What `harmony sim
// --dataset-out` writes and what interference models are fitted from.
#pragma once

#include "src/plan/interference.h"

#include <cstdint>
#include <string>
#include <vector>

namespace harmony {

constexpr int dataset_schema = 1;

struct IntervalRecord {
  std::uint32_t job = 0;
  std::string type;
  int workers = 0, ps = 0, nodes = 0;
  double begin_s = 0, end_s = 0;
  double epochs = 0;         // done in it
  double relative_speed = 1; // to the best that the job could have had alone
  InterferenceTerms terms;   // of its slowest node
};

std::string to_line(const IntervalRecord &record); // without the newline

// Of every *.jsonl file of the directory, in the order of their names; other kinds of records are passed over. Throws
// std::runtime_error with file and line.
std::vector<IntervalRecord> read_intervals(const std::string &directory);

} // namespace harmony
