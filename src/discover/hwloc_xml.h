// An untrusted hwloc export, made safe for hwloc.
//
// hwloc's own reader believes what it reads: sets that overlap, indices in the billions, objects in the wrong place end
// in failed assertions, endless allocation or a crash. So libxml2 reads the file, everything that we use is checked and
// written anew in hwloc's format 2, and hwloc sees nothing else. What is not used (caches' sizes, memory attributes,
// CPU kinds, user data, other distances) is left out; an attribute or element that we do not know does no harm.
//
// That is also how format 3 (hwloc 3.0), which hwloc 2 refuses to read, comes in. For us it differs in this:
//   - <topology version="3.0">;
//   - osdev_type is a set of bits (storage 1, memory 2, GPU 4, co-processor 8, network 16, OpenFabrics 32, DMA 64)
//     instead of a number (block 0, GPU 1, network 2, OpenFabrics 3, DMA 4, co-processor 5);
//   - an object may have id="obj7" in place of gp_index="7";
//   - <info> may also stand below <topology>, <distances2>, <memattr> and <page_type>, where hwloc 2 stumbles over it;
//   - PCI domains may be above ffff (devices behind Intel VMD); as in hwloc 2, these devices are left out.
#pragma once

#include <string>

namespace harmony {

struct CleanXml {
  std::string text;    // format 2, by our hand
  std::string problem; // empty on success, else why not, in one line
};

CleanXml clean_hwloc_xml(const std::string &text);

} // namespace harmony
