// Fuzzes the reading of a dataset, line by line and as a file, compressed or not: whatever comes in, it is refused with
// printable words, or it is a record that is written within its limits and read back the same.

// clang-format off: tests/fuzz/run reads these lines
// links: src/record/records_of_json.cpp src/record/records_to_json.cpp src/record/dataset_reader.cpp
// links: src/record/dataset_names.cpp src/record/gzip.cpp src/store/list_directory.cpp src/show/decision_json.cpp
// links: src/plan/decision_log.cpp src/values/plan.cpp
// max-len: 16384
// clang-format on
#include "src/record/dataset_reader.h"
#include "src/values/printable.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <stdexcept>
#include <unistd.h>

namespace {

using namespace harmony;

constexpr const char *file_name = "/a.jsonl.gz"; // the reader looks at the bytes, not at the name

// A directory for one file, gone at the end.
class Directory {
public:
  Directory() {
    if (!mkdtemp(path_)) std::abort();
  }
  ~Directory() {
    unlink((std::string(path_) + file_name).c_str());
    rmdir(path_);
  }
  std::string path() const { return path_; }

private:
  char path_[64] = "/tmp/harmony-dataset-fuzz-XXXXXX";
};

bool fit_for_people(const std::string &text) {
  return !text.empty() && text.size() < 2048 && std::all_of(text.begin(), text.end(), is_printable);
}

void check(const Record &record) {
  const std::string line = to_line(record);
  if (line.size() > longest_record || !std::all_of(line.begin(), line.end(), is_printable)) std::abort();
  if (to_line(record_of_line(line)) != line) std::abort();
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char *data, std::size_t size) {
  static const Directory directory;
  const std::string text(reinterpret_cast<const char *>(data), size);
  try {
    check(record_of_line(text));
  } catch (const std::runtime_error &wrong) {
    if (!fit_for_people(wrong.what())) std::abort();
  }
  std::ofstream(directory.path() + file_name, std::ios::binary | std::ios::trunc) << text;
  std::uint64_t taken = 0;
  const DatasetReading reading = read_dataset(directory.path(), [&taken](const Record &record) {
    check(record);
    ++taken;
  });
  if (reading.records != taken || reading.files != 1 || reading.bytes != size) std::abort();
  for (const DatasetFault &fault : reading.faults)
    if (!fit_for_people(fault.what) || !fit_for_people(fault.file)) std::abort();
  return 0;
}
