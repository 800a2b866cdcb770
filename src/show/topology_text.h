// A topology as text for people, and the words that the other views (JSON, SVG, gres.conf) share with it.
//
// All views expect a sound topology (problem_with() is empty). Its names may come from anywhere: no view prints a byte
// of them that a terminal, a parser or a browser would act upon.
#pragma once

#include "src/values/topology.h"

#include <string>
#include <string_view>

namespace harmony {

// The node's tree, and the GPU matrix in the layout of `nvidia-smi topo -m`.
std::string topology_text(const Topology &topology, const std::string &host);

// 2 sockets, 2 NUMA nodes, 32 cores, 8 GPUs
std::string topology_summary(const Topology &topology);

// Printable, and safe between tags and quotes of XML.
std::string xml_escaped(std::string_view text);

std::string core_list(const std::vector<CoreRange> &cores); // 0-15,32-47
int core_count(const std::vector<CoreRange> &cores);
std::string memory_text(std::uint32_t memory_mb); // 24 GiB
std::string speed_text(std::uint32_t speed_mbps); // 100 Gb/s; empty if unknown
std::string pcie_text(const Gpu &gpu);            // PCIe 3 x16; empty if unknown

} // namespace harmony
