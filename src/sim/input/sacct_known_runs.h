// Which runs a dataset has, so that none is imported into it a second time. For one thread.
#pragma once

#include "src/record/records.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

namespace harmony {

class KnownRuns {
public:
  KnownRuns() = default;
  // All that start or end in it; none if there is no such directory, or no dataset in it. Throws as read_dataset does,
  // and if not all of it can be read, for then there is no telling.
  explicit KnownRuns(const std::string &directory);

  // The number of the job's run that began then; empty: it is not there. Not by id.run: sacct does not say how often a
  // job had been requeued before the first row that it was asked for.
  std::optional<int> number_of(const RunId &id, double begin_s) const;

  // The first number from `id.run` on that no run of the job has.
  int free_number(const RunId &id) const;

private:
  using Job = std::pair<std::string, std::uint32_t>; // of a cluster
  std::map<Job, std::map<int, double>> begun_s_;     // by number
};

} // namespace harmony
