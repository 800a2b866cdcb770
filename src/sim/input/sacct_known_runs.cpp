#include "src/sim/input/sacct_known_runs.h"

#include "src/record/dataset_reader.h"

#include <fmt/format.h>

#include <cmath>
#include <stdexcept>

namespace harmony {
namespace {

// slurmctld's records may be a little late; a job that is requeued waits for longer before it begins again.
constexpr double same_begin_s = 60;

} // namespace

KnownRuns::KnownRuns(const std::string &directory) {
  if (!has_dataset(directory)) return;
  const auto note = [this](const RunId &id, double begin_s) {
    begun_s_[{id.cluster, id.job}].try_emplace(id.run, begin_s);
  };
  const DatasetReading reading = read_dataset(directory, [&](const Record &record) {
    if (const auto *start = std::get_if<StartRecord>(&record)) note(start->id, start->begin_s);
    if (const auto *end = std::get_if<EndRecord>(&record)) note(end->id, end->begin_s);
  });
  if (!reading.faults.empty())
    throw std::runtime_error(fmt::format("{}; nothing was imported, for which runs are there cannot be told",
                                         fault_text(reading.faults.front())));
}

std::optional<int> KnownRuns::number_of(const RunId &id, double begin_s) const {
  const auto found = begun_s_.find({id.cluster, id.job});
  if (found == begun_s_.end()) return std::nullopt;
  for (const auto &[number, begun_s] : found->second)
    if (std::abs(begun_s - begin_s) <= same_begin_s) return number;
  return std::nullopt;
}

int KnownRuns::free_number(const RunId &id) const {
  const auto found = begun_s_.find({id.cluster, id.job});
  int number = id.run;
  while (found != begun_s_.end() && found->second.count(number) > 0) ++number;
  return number;
}

} // namespace harmony
