// Slurm's accounting as a dataset: what ran before the plugin was there. For one thread.
//
// `sacct --allocations --duplicates --parsable2 --format=…`, a header and fields parted by '|'. Needed are JobID,
// Start, AllocTRES or ReqTRES, and one of End, ElapsedRaw and Elapsed; used as well are JobIDRaw, Submit, State,
// ExitCode, Cluster, User, UID, TimelimitRaw or Timelimit, SubmitLine, Comment and, for neighbours and intervals,
// NodeList. Times are local, as sacct writes them, or seconds since 1970 (SLURM_TIME_FORMAT=%s). Everything else is
// ignored.
//
// Every job with GPUs is a gang with a worker a GPU, spread evenly over its nodes: which GPUs and cores it had is not
// told. Jobs without GPUs are neighbours. Components of a hetjob are one gang. A job listed several times was requeued.
#pragma once

#include "src/values/settings.h"

#include <cstddef>
#include <string>
#include <vector>

namespace harmony {

struct SacctImport {
  std::string file, to; // to: the dataset's directory, which is made
  std::string cluster;  // empty: as the column Cluster says, else "sacct"
  DatasetUsers users = DatasetUsers::hash;
  bool skip_bad = false;
};

struct SacctImported {
  std::string file; // empty: there was nothing new
  std::size_t runs = 0, intervals = 0;
  std::vector<std::string> notes; // what was left out, and what is missing for more
};

// Writes one file, sacct-FIRST-LAST.jsonl, whole or not at all, of the runs that are not in the dataset yet. Those that
// are, and jobs that have not ended, are neighbours only. Throws BadInput or std::runtime_error; then nothing was made.
SacctImported import_sacct(const SacctImport &how);

} // namespace harmony
