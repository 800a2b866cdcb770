// Discovery, first step: what hwloc sees of a machine -> Topology. NVML may add to it afterwards.
//
// Needs no privilege. May be called from any thread; keeps no state and changes no environment variable.
#pragma once

#include "src/values/topology.h"

#include <cstddef>
#include <string>

namespace harmony {

struct HwlocResult {
  Topology topology;   // of no use if there is a problem
  std::string problem; // empty on success
};

// This machine. The GPU libraries are not asked (hwloc's own NVML and CUDA plugins stay off: a hanging driver would
// hang us); GPUs come from the PCI devices.
HwlocResult read_this_machine();

// An hwloc export (`lstopo FILE.xml`), format 2 or 3. The file is not trusted: see hwloc_xml.h. A problem names the
// file and the reason in one line.
HwlocResult read_xml_file(const std::string &path);

constexpr std::size_t max_xml_bytes = 64u << 20;

} // namespace harmony
