#include "plugin/slurm_version.h"

#include "plugin/engine/slurm_nodes.h"

#include "src/publish/compact.h"
#include "src/publish/extra_field.h"

extern "C" {
#include "src/common/bitstring.h"
#include "src/common/gres.h"
#include "src/common/node_conf.h"
#include "src/slurmctld/locks.h"
}

namespace harmony {
namespace {

// slurmctld's node read lock, for a scope.
class NodeReadLock {
public:
  NodeReadLock() { lock_slurmctld(locks_); }
  ~NodeReadLock() { unlock_slurmctld(locks_); }
  NodeReadLock(const NodeReadLock &) = delete;
  NodeReadLock &operator=(const NodeReadLock &) = delete;

private:
  slurmctld_lock_t locks_ = {READ_LOCK, NO_LOCK, READ_LOCK, NO_LOCK, NO_LOCK};
};

std::string text(const char *value) { return value ? value : ""; }

const gres_node_state_t *gpu_state(const node_record_t &node) {
  const gres_node_state_t *found = nullptr;
  if (!node.gres_list) return nullptr;
  auto each = list_iterator_create(node.gres_list);
  while (auto *gres = static_cast<gres_state_t *>(list_next(each)))
    if (text(gres->gres_name) == "gpu") found = static_cast<const gres_node_state_t *>(gres->gres_data);
  list_iterator_destroy(each);
  return found;
}

// Changes whenever anything that copy_facts reads of the node's hardware does.
class Signature {
public:
  void mix(std::uint64_t value) { hash_ = (hash_ ^ value) * 0x100000001b3; }
  void mix(const char *word) {
    for (; word && *word; ++word) mix(static_cast<unsigned char>(*word));
    mix(std::uint64_t{0});
  }
  void mix(bitstr_t *bits) {
    for (std::int64_t bit = bits ? bit_ffs(bits) : -1; bit >= 0 && bit < bit_size(bits); ++bit)
      if (bit_test(bits, bit)) mix(static_cast<std::uint64_t>(bit) + 1);
    mix(std::uint64_t{0});
  }
  std::uint64_t value() const { return hash_; }

private:
  std::uint64_t hash_ = 0xcbf29ce484222325;
};

std::uint64_t signature(const node_record_t &node) {
  Signature all;
  all.mix(std::uint64_t{node.tot_sockets});
  all.mix(std::uint64_t{node.cores});
  all.mix(node.real_memory);
  const gres_node_state_t *gpus = gpu_state(node);
  if (!gpus) return all.value();
  all.mix(gpus->gres_cnt_avail);
  if (gpus->type_cnt == 1 && gpus->type_name) all.mix(gpus->type_name[0]);
  for (int i = 0; i < gpus->topo_cnt; ++i) {
    if (gpus->topo_core_bitmap) all.mix(gpus->topo_core_bitmap[i]);
    if (gpus->topo_gres_bitmap) all.mix(gpus->topo_gres_bitmap[i]);
    if (gpus->topo_type_name) all.mix(gpus->topo_type_name[i]);
  }
  for (int i = 0; gpus->links_cnt && i < gpus->link_len; ++i)
    for (int j = 0; j < gpus->link_len; ++j) all.mix(static_cast<std::uint64_t>(gpus->links_cnt[i][j]));
  return all.value();
}

std::vector<CoreRange> ranges(bitstr_t *bits) {
  std::vector<CoreRange> result;
  const auto size = static_cast<int>(bit_size(bits));
  for (int bit = 0; bit < size; ++bit) {
    if (!bit_test(bits, bit)) continue;
    if (!result.empty() && result.back().last == bit - 1)
      result.back().last = bit;
    else
      result.push_back({bit, bit});
  }
  return result;
}

void copy_gpu(const gres_node_state_t &gpus, int index, GresGpu &gpu) {
  for (int i = 0; i < gpus.topo_cnt; ++i) {
    if (!gpus.topo_gres_bitmap || !gpus.topo_gres_bitmap[i] || index >= bit_size(gpus.topo_gres_bitmap[i]) ||
        !bit_test(gpus.topo_gres_bitmap[i], index))
      continue;
    if (gpus.topo_core_bitmap && gpus.topo_core_bitmap[i]) gpu.cores = ranges(gpus.topo_core_bitmap[i]);
    if (gpus.topo_type_name) gpu.type = text(gpus.topo_type_name[i]);
    return;
  }
  if (gpus.type_cnt == 1 && gpus.type_name) gpu.type = text(gpus.type_name[0]);
}

// Our word in the Extra field; the parser refuses one byte more than it reads, so no more than that is copied.
std::string published_by(const node_record_t &node) {
  return std::string(topology_word(node.extra ? node.extra : "").substr(0, max_compact_size + 1));
}

NodeFacts copy_facts(const node_record_t &node) {
  NodeFacts facts;
  facts.name = text(node.name);
  facts.published = published_by(node);
  facts.sockets = node.tot_sockets;
  facts.cores_per_socket = node.cores;
  facts.memory_mb = static_cast<std::uint32_t>(node.real_memory > UINT32_MAX ? UINT32_MAX : node.real_memory);
  const gres_node_state_t *gpus = gpu_state(node);
  if (!gpus) return facts;
  facts.gpus.resize(gpus->gres_cnt_avail > max_gpus ? max_gpus : gpus->gres_cnt_avail);
  for (std::size_t i = 0; i < facts.gpus.size(); ++i) copy_gpu(*gpus, static_cast<int>(i), facts.gpus[i]);
  for (int i = 0; gpus->links_cnt && i < gpus->link_len && i < max_gpus; ++i)
    facts.links.emplace_back(gpus->links_cnt[i], gpus->links_cnt[i] + gpus->link_len);
  return facts;
}

} // namespace

NodeChanges changed_nodes(const TopologyStore &store, time_t &last_look) {
  NodeChanges changes;
  const NodeReadLock lock;
  // Updates are stamped in whole seconds: one within the second of the last look may have come after it.
  if (last_node_update < last_look - 1) return changes;
  last_look = time(nullptr);
  changes.looked = true;
  for (int i = 0; i < node_record_count; ++i) {
    const node_record_t *node = node_record_table_ptr[i];
    if (!node || !node->name) continue;
    changes.names.push_back(node->name);
    const std::uint64_t gres_signature = signature(*node);
    if (store.is_news(node->name, published_by(*node), gres_signature))
      changes.changed.push_back({copy_facts(*node), gres_signature});
  }
  return changes;
}

bool may_see_nodes(uid_t user) {
  const NodeReadLock lock; // it includes slurm.conf's
  return !(slurm_conf.private_data & PRIVATE_DATA_NODES) || user == 0 || user == slurm_conf.slurm_user_id;
}

} // namespace harmony
