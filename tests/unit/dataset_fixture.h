// Records, and folders with a dataset in them, for the tests of what reads one.
#pragma once

#include "src/record/dataset_reader.h"
#include "src/record/records.h"
#include "tests/unit/sim_files.h"

#include <string>
#include <utility>
#include <vector>

namespace harmony {
namespace fixtures {

inline RunId run_id(std::uint32_t job, int run = 0) { return {"c1", job, run}; }

inline StartRecord start_of(std::uint32_t job, const std::string &type, double begin_s, int workers = 2) {
  StartRecord start;
  start.id = run_id(job);
  start.type = type;
  start.workers = start.gpus = workers;
  start.policy = "pack";
  start.submit_s = start.begin_s = begin_s;
  return start;
}

inline IntervalRecord interval_of(std::uint32_t job, const std::string &type, double begin_s, double end_s,
                                  const std::vector<std::string> &neighbours = {}) {
  IntervalRecord interval;
  interval.id = run_id(job);
  interval.type = type;
  interval.workers = 2;
  interval.nodes = 1;
  interval.begin_s = begin_s;
  interval.end_s = end_s;
  for (const std::string &each : neighbours) interval.neighbours.emplace_back().type = each;
  return interval;
}

inline IntervalRecord claiming(IntervalRecord interval, double epoch, double at_s) {
  interval.claim.emplace();
  interval.claim->epoch = epoch;
  interval.claim->at = static_cast<std::int64_t>(at_s);
  return interval;
}

inline IntervalRecord simulated(IntervalRecord interval, double relative_speed) {
  interval.epochs = relative_speed * (interval.end_s - interval.begin_s);
  interval.relative_speed = relative_speed;
  return interval;
}

inline EndRecord end_of(std::uint32_t job, const std::string &type, double begin_s, double end_s, double epochs = 0,
                        const std::string &state = "COMPLETED") {
  EndRecord end;
  end.id = run_id(job);
  end.type = type;
  end.state = state;
  end.begin_s = begin_s;
  end.end_s = end_s;
  end.elapsed_s = end_s - begin_s;
  if (epochs > 0) end.epochs = epochs;
  return end;
}

inline std::string lines_of(const std::vector<Record> &records) {
  std::string text;
  for (const Record &record : records) text += to_line(record) + "\n";
  return text;
}

} // namespace fixtures
} // namespace harmony
