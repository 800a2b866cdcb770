// Reads a dataset: every *.jsonl and *.jsonl.gz file of a directory, in the order of their names (so of time). Files
// are not trusted. A last line without its end, and a compressed file that stops in the middle, are what a kill leaves
// behind: they are passed over and counted. For one thread.
#pragma once

#include "src/record/records.h"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace harmony {

struct DatasetFault {
  std::string file;
  int line = 0; // 0: of the file as a whole
  std::string what;
};

std::string fault_text(const DatasetFault &fault); // "FILE:LINE: what"

struct DatasetReading {
  std::uint64_t files = 0, bytes = 0, records = 0; // bytes on the disk
  std::uint64_t torn = 0;                          // tails passed over
  std::uint64_t faulty = 0;                        // records
  std::uint64_t damaged = 0;                       // files of which not all could be read, or nothing
  std::vector<DatasetFault> faults;                // the first few of either
};

// Calls `take` for every sound record. A record that is not sound is a fault: told in the result, and passed over.
// Throws std::runtime_error if the directory cannot be read or has no such file.
DatasetReading read_dataset(const std::string &directory, const std::function<void(const Record &)> &take);

// Whether there is such a file in it; not if there is no such directory.
bool has_dataset(const std::string &directory);

// The same, and says where each record stands.
struct RecordPlace {
  const std::string &file;
  int line = 0;
};
DatasetReading read_dataset(const std::string &directory,
                            const std::function<void(const Record &, const RecordPlace &)> &take);

// The intervals whose speed is known, with epochs and relative_speed filled in. What a simulation measured stands as it
// is. Of a real run that completed with declared epochs, these are shared out over its intervals: by the owner's claims
// where there are any that can be right, else evenly; so a claim moves progress within its run and cannot invent any.
// Speeds are made relative to the fast ones (the 95th percentile of runs' mean speeds) of the same type, workers and
// PS; a run that is more than twice as fast as those declared something wrong, and is left out. In the order of the
// files. Throws as read_dataset does, and for a faulty record or a damaged file, with file and line.
// `also` is given every record, whatever it is.
std::vector<IntervalRecord> read_intervals(const std::string &directory,
                                           const std::function<void(const Record &)> &also = {});

} // namespace harmony
