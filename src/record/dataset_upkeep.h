// What is to be done to the files of a dataset that are ended: compress them, and take the oldest away. Whatever is
// killed on the way, each record stays in one file at least, and readers prefer the plain one while both are there.
//
// Only files with names that DatasetWriter gives are touched, and none that is locked by whoever writes it. Any thread;
// several processes may be at it.
#pragma once

#include "src/store/secure_file.h"

#include <atomic>
#include <cstdint>
#include <string>

namespace harmony {

struct UpkeepResult {
  std::uint64_t files = 0, bytes = 0; // that are there afterwards, without those being written
  std::string problem;                // the first one; the rest was done all the same
};

// Compresses, then removes the oldest until those that are left are within most_bytes. `stop` ends it soon.
UpkeepResult keep_dataset(const OpenDirectory &directory, std::uint64_t most_bytes, const std::atomic<bool> &stop);

} // namespace harmony
