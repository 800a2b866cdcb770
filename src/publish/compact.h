// The compact form of a topology, as it is published in the node's Extra field: printable ASCII without spaces, some
// hundred bytes for an 8-GPU node, the same text for the same topology, and back exactly to what placement uses.
//
//   HM1:s2;n0:0-15:128000/1:16-31:128000;db0/s0/s0/b1/s3/s3;grtx6000:24576:1+1+2+2+4+4+5+5;i1:100000/4:100000;k0/3;.
//
//   s  sockets
//   n  NUMA nodes: socket:cores:memory in MB; cores are ranges joined by +
//   d  domains: b and its NUMA node for a host bridge, s and its parent for a PCIe switch
//   g  GPUs: model:memory in MB:the domain of each, joined by +; behind a domain, m: MIG is on, x: lost
//   i  NICs: domain:Mb/s (0: unknown)
//   k  disks: domain
//   l  NVLinks: the upper triangle of the GPU matrix, row by row, a base-36 digit a pair
//   .  the end: a text that was cut off is refused
// Entries are parted by /, sections by ;. Sections stand in this order; n, d, g, i, k and l are left out when empty.
//
// The text is untrusted when it is read: at most max_compact_size bytes, numbers in range, and no allocation larger
// than the text itself calls for. Any thread.
#pragma once

#include "src/values/topology.h"

#include <string>
#include <string_view>

namespace harmony {

constexpr std::size_t max_compact_size = 65536;
constexpr std::string_view compact_prefix = "HM1:";

// The topology must be sound (problem_with() is empty).
std::string compact_form(const Topology &topology);

struct CompactResult {
  Topology topology;        // source is published; meaningful if problem is empty
  std::string problem;      // what is wrong
  std::size_t position = 0; // where in the text, from 0
};

CompactResult parse_compact(std::string_view text);

} // namespace harmony
