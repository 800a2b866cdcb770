#include "src/record/dataset_reader.h"
#include "src/record/run_speeds.h"

#include <algorithm>
#include <stdexcept>

namespace harmony {

std::vector<IntervalRecord> read_intervals(const std::string &directory,
                                           const std::function<void(const Record &)> &also) {
  std::vector<MeasuredInterval> measured;
  RunSpeeds speeds([&](MeasuredInterval &&interval) { measured.push_back(std::move(interval)); });
  const DatasetReading reading = read_dataset(directory, [&](const Record &record) {
    if (also) also(record);
    speeds.add(record);
  });
  if (!reading.faults.empty()) throw std::runtime_error(fault_text(reading.faults.front()));
  std::sort(measured.begin(), measured.end(),
            [](const MeasuredInterval &one, const MeasuredInterval &other) { return one.order < other.order; });
  const std::map<GangKind, double> fast = speeds.fast_speeds();
  std::vector<IntervalRecord> intervals;
  for (MeasuredInterval &each : measured) {
    IntervalRecord &record = each.record;
    if (!record.relative_speed) {
      const double of_kind = fast.at(each.kind);
      if (each.run_speed > most_relative_speed * of_kind) continue;
      record.relative_speed = each.speed / of_kind;
    }
    intervals.push_back(std::move(record));
  }
  return intervals;
}

} // namespace harmony
