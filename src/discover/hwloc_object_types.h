// The object types of an hwloc export, and where each may stand.
#pragma once

#include <array>
#include <string>

namespace harmony {

enum class Family {
  normal,  // has CPUs
  memory,  // a NUMA node
  io,      // bridge, PCI device, OS device
  through, // left out, its children stay
  out,     // left out with its children
};

struct ObjectType {
  const char *name;
  Family family;
  int rank;        // of normal objects, from the machine down to the CPU; 0: not ranked
  int cache_depth; // 0: no cache
  int cache_type;  // hwloc's number: 0 unified (data caches pass for it), 2 instruction
};

constexpr std::array<ObjectType, 20> object_types{{
    {"Machine", Family::normal, 1, 0, 0},  {"Package", Family::normal, 2, 0, 0},
    {"Die", Family::normal, 3, 0, 0},      {"Core", Family::normal, 4, 0, 0},
    {"PU", Family::normal, 5, 0, 0},       {"Group", Family::normal, 0, 0, 0},
    {"L1Cache", Family::normal, 0, 1, 0},  {"L2Cache", Family::normal, 0, 2, 0},
    {"L3Cache", Family::normal, 0, 3, 0},  {"L4Cache", Family::normal, 0, 4, 0},
    {"L5Cache", Family::normal, 0, 5, 0},  {"L1iCache", Family::normal, 0, 1, 2},
    {"L2iCache", Family::normal, 0, 2, 2}, {"L3iCache", Family::normal, 0, 3, 2},
    {"NUMANode", Family::memory, 0, 0, 0}, {"MemCache", Family::through, 0, 0, 0},
    {"Bridge", Family::io, 0, 0, 0},       {"PCIDev", Family::io, 0, 0, 0},
    {"OSDev", Family::io, 0, 0, 0},        {"Misc", Family::out, 0, 0, 0},
}};

inline const ObjectType *find_object_type(const std::string &name) {
  for (const ObjectType &type : object_types)
    if (name == type.name) return &type;
  return nullptr;
}

} // namespace harmony
