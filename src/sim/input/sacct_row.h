// What a row of sacct says, read in one place for simulations and for the dataset. Each throws BadLine for what sacct
// would not write. For one thread.
#pragma once

#include "src/sim/input/csv.h"

#include <cstdint>
#include <optional>
#include <string>

namespace harmony {

struct SacctTres {
  int gpus = 0, cpus = 0;
  std::string gpu; // the model, if there is one only
};

// "billing=8,cpu=8,gres/gpu:a100=2,gres/gpu=2,mem=16G,node=1"; what is not about GPUs and CPUs may be anything.
SacctTres sacct_tres(const CsvReader &csv, const char *column);

// What the owner said of the job, in SubmitLine or else in Comment; what has not the options' grammar is not there.
struct SacctOptions {
  std::string type; // empty: none
  std::optional<std::uint32_t> ps, epochs;
};
SacctOptions sacct_options(const CsvReader &csv);

bool is_sacct_moment(const std::string &text); // not Unknown or None

// As if it were in UTC; see moment_in().
double sacct_moment(const CsvReader &csv, const char *column);

// Of ElapsedRaw, Elapsed, or End and Start; 0 if none of them tells.
double sacct_elapsed(const CsvReader &csv);

double sacct_time_limit(const CsvReader &csv); // seconds; 0: none

} // namespace harmony
