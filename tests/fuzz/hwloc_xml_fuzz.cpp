// Fuzzes the checking of hwloc exports: whatever comes in, it is refused, or what is handed to hwloc passes the same
// check again.

// links: src/discover/hwloc_xml.cpp src/discover/hwloc_object_writer.cpp src/discover/hwloc_distances_writer.cpp
// corpus: tests/topologies
// max-len: 40000
#include "src/discover/hwloc_xml.h"

#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const unsigned char *data, std::size_t size) {
  const harmony::CleanXml clean = harmony::clean_hwloc_xml(std::string(reinterpret_cast<const char *>(data), size));
  if (clean.problem.empty() && !harmony::clean_hwloc_xml(clean.text).problem.empty()) std::abort();
  return 0;
}
