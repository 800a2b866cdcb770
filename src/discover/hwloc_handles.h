// Owners for hwloc's handles.
#pragma once

#include <hwloc.h>

#include <memory>

namespace harmony {

struct BitmapFree {
  void operator()(hwloc_bitmap_t bitmap) const { hwloc_bitmap_free(bitmap); }
};
using Bitmap = std::unique_ptr<hwloc_bitmap_s, BitmapFree>;

inline Bitmap new_bitmap() { return Bitmap(hwloc_bitmap_alloc()); }

struct TopologyDestroy {
  void operator()(hwloc_topology_t topology) const { hwloc_topology_destroy(topology); }
};
using HwlocTopology = std::unique_ptr<hwloc_topology, TopologyDestroy>;

} // namespace harmony
