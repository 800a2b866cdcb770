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

// Word by word: job_test asks it.
bool usable_beyond(const Bits &nodes) {
  const auto word = [](bitstr_t *bits, std::size_t at) {
    return bits && static_cast<bitoff_t>(at * 64) < bit_size(bits)
               ? static_cast<std::uint64_t>(bits[BITSTR_OVERHEAD + at])
               : std::uint64_t{0};
  };
  const std::size_t words = (static_cast<std::size_t>(node_record_count) + 63) / 64;
  for (std::size_t i = 0; i < words; ++i) {
    const std::uint64_t kept_out = word(cg_node_bitmap, i) | word(rs_node_bitmap, i) | word(power_node_bitmap, i) |
                                   word(booting_node_bitmap, i) | (i < nodes.words().size() ? nodes.words()[i] : 0);
    if (word(avail_node_bitmap, i) & word(share_node_bitmap, i) & ~kept_out) return true;
  }
  return false;
}

} // namespace harmony
