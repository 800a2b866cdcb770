// Slurm's values as ours.
#pragma once

#include "plugin/slurm_version.h"

#include "src/values/bits.h"

#include <algorithm>
#include <cstring>
#include <string>

extern "C" {
#include "src/common/bitstring.h"
#include "src/common/gres.h"
}

namespace harmony {

inline std::string text(const char *value) { return value ? value : ""; }

// The id that people know a gang by: of a hetjob, that of its first component.
inline std::uint32_t gang_id(const job_record_t &job) { return job.het_job_id ? job.het_job_id : job.job_id; }

// Bit by bit the same; `size` bits, or as many as there are if it is negative.
inline Bits bits_of(bitstr_t *source, int size = -1) {
  const int there = source ? static_cast<int>(bit_size(source)) : 0;
  Bits bits(size < 0 ? there : size);
  const std::size_t words = std::min(bits.words().size(), (static_cast<std::size_t>(there) + 63) / 64);
  if (words) std::memcpy(bits.words().data(), source + BITSTR_OVERHEAD, words * sizeof(std::uint64_t));
  if (const int tail = std::min(there, bits.size()) % 64; words && tail)
    bits.words()[words - 1] &= (std::uint64_t{1} << tail) - 1;
  return bits;
}

// Runs `body` for each record of a list of Slurm's; a null list is empty.
template <class Record, class Body> void for_each(SlurmList list, Body body) {
  if (!list) return;
  auto at = list_iterator_create(list);
  while (auto *record = static_cast<Record *>(list_next(at))) body(*record);
  list_iterator_destroy(at);
}

inline bool is_gpu(const gres_state_t &gres) { return gres.gres_name && std::strcmp(gres.gres_name, "gpu") == 0; }

// GPUs, or shares of them.
inline bool is_on_gpus(const gres_state_t &gres) {
  return is_gpu(gres) ||
         (gres.gres_name && (std::strcmp(gres.gres_name, "shard") == 0 || std::strcmp(gres.gres_name, "mps") == 0));
}

inline gres_node_state_t *gpu_state(const node_record_t &node) {
  gres_node_state_t *found = nullptr;
  for_each<gres_state_t>(node.gres_list, [&found](gres_state_t &gres) {
    if (is_gpu(gres)) found = static_cast<gres_node_state_t *>(gres.gres_data);
  });
  return found;
}

} // namespace harmony
