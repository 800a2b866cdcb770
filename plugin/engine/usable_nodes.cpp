#include "plugin/slurm_version.h"

#include "plugin/engine/usable_nodes.h"

#include "plugin/engine/slurm_values.h"

namespace harmony {

Bits usable_nodes() {
  Bits usable = bits_of(avail_node_bitmap, node_record_count);
  usable &= bits_of(share_node_bitmap);
  for (bitstr_t *kept_out : {cg_node_bitmap, rs_node_bitmap, power_node_bitmap, booting_node_bitmap})
    if (kept_out) usable -= bits_of(kept_out);
  return usable;
}

bool usable_beyond(const Bits &nodes) { return !nodes.contains(usable_nodes()); }

} // namespace harmony
