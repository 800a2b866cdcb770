// Fuzzes the reading of manifest.json, which happens inside slurmctld: whatever comes in, it is refused with one
// printable line, or it is a sound manifest that survives being written and read again. CURRENT is read on the way.

// links: src/store/manifest.cpp src/store/current_file.cpp
#include "src/store/current_file.h"
#include "src/store/manifest.h"

#include <algorithm>
#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const unsigned char *data, std::size_t size) {
  using namespace harmony;
  const std::string text(reinterpret_cast<const char *>(data), size);
  const ManifestReading reading = read_manifest(text);
  if (!reading.problem.empty()) {
    const auto printable = [](char c) { return c >= ' ' && c <= '~'; };
    if (reading.problem.size() > 1024 || !std::all_of(reading.problem.begin(), reading.problem.end(), printable))
      std::abort();
  } else {
    if (!manifest_problem(reading.manifest).empty()) std::abort();
    const std::string written = manifest_json(reading.manifest);
    const ManifestReading again = read_manifest(written);
    if (!again.problem.empty() || manifest_json(again.manifest) != written) std::abort();
  }
  const std::vector<int> versions = versions_of_current(text);
  if (!versions.empty() && current_text(versions) != text) std::abort();
  return 0;
}
