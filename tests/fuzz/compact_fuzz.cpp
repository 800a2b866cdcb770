// Fuzzes the compact form, which slurmctld reads from a field that others may write: whatever comes in, it is refused
// or it is the one text of a sound topology.

// links: src/publish/compact.cpp src/publish/extra_field.cpp src/values/topology.cpp
#include "src/publish/compact.h"
#include "src/publish/extra_field.h"

#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const unsigned char *data, std::size_t size) {
  using namespace harmony;
  const std::string_view text(reinterpret_cast<const char *>(data), size);
  const CompactResult result = parse_compact(text);
  if (result.problem.empty()) {
    if (!problem_with(result.topology).empty()) std::abort();
    if (compact_form(result.topology) != text) std::abort();
  } else if (result.position > size) {
    std::abort();
  }
  if (topology_word(with_topology_word(text, "HM1:s1;.")) != "HM1:s1;.") std::abort();
  return 0;
}
