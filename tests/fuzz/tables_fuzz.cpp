// Fuzzes the reading of measured tables: whatever comes in, it is refused with one printable line that names the file,
// or its speeds and ratios are above 0 and finite, for jobs that it has and jobs that it has not.

// links: src/sim/truth/table_files.cpp src/sim/input/csv.cpp src/sim/input/line_reader.cpp
#include "src/sim/input/csv.h"
#include "src/sim/truth/table_files.h"
#include "tests/fuzz/memory_file.h"

#include <cmath>
#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const unsigned char *data, std::size_t size) {
  using namespace harmony;
  const MemoryFile file(data, size);
  const auto sound = [](double value) { return std::isfinite(value) && value > 0; };
  try {
    const SpeedTable speeds(file.path());
    for (const char *type : {"vgg16", "bert", "none"})
      for (const int workers : {1, 4, 1000})
        for (const int nodes : {1, 3, 1000})
          if (const auto speed = speeds.speed(type, workers, nodes))
            if (!sound(*speed)) std::abort();
  } catch (const BadInput &problem) {
    if (!fit_for_people(problem.what(), file)) std::abort();
  }
  try {
    const PairTable pairs(file.path());
    for (const int workers : {1, 4})
      if (!sound(pairs.ratio({"vgg16", workers, 1}, {"bert", 1, 1}))) std::abort();
  } catch (const BadInput &problem) {
    if (!fit_for_people(problem.what(), file)) std::abort();
  }
  return 0;
}
