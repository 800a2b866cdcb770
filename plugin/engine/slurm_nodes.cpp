#include "plugin/slurm_version.h"

#include "plugin/engine/slurm_nodes.h"

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

// Changes whenever what Slurm knows of the node's GPUs does, as far as we read it.
std::uint64_t signature(const node_record_t &node) {
  std::uint64_t hash = 0xcbf29ce484222325;
  const auto mix = [&hash](std::uint64_t value) { hash = (hash ^ value) * 0x100000001b3; };
  mix(node.tot_sockets);
  mix(node.cores);
  mix(node.real_memory);
  if (const gres_node_state_t *gpus = gpu_state(node)) {
    mix(gpus->gres_cnt_avail);
    for (int i = 0; i < gpus->topo_cnt; ++i)
      if (gpus->topo_core_bitmap && gpus->topo_core_bitmap[i]) {
        mix(static_cast<std::uint64_t>(bit_ffs(gpus->topo_core_bitmap[i])));
        mix(static_cast<std::uint64_t>(bit_fls(gpus->topo_core_bitmap[i])));
      }
    for (int i = 0; gpus->links_cnt && i < gpus->link_len; ++i)
      for (int j = 0; j < gpus->link_len; ++j) mix(static_cast<std::uint64_t>(gpus->links_cnt[i][j]));
  }
  return hash;
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

NodeFacts copy_facts(const node_record_t &node) {
  NodeFacts facts;
  facts.name = text(node.name);
  facts.extra = text(node.extra);
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

std::vector<ChangedNode> changed_nodes(const TopologyStore &store, time_t &last_look) {
  std::vector<ChangedNode> changed;
  const NodeReadLock lock;
  // Updates are stamped in whole seconds: one within the second of the last look may have come after it.
  if (last_node_update < last_look - 1) return changed;
  last_look = time(nullptr);
  for (int i = 0; i < node_record_count; ++i) {
    const node_record_t *node = node_record_table_ptr[i];
    if (!node || !node->name) continue;
    const std::uint64_t gres_signature = signature(*node);
    if (store.is_news(node->name, node->extra, gres_signature)) changed.push_back({copy_facts(*node), gres_signature});
  }
  return changed;
}

bool may_see_nodes(uid_t user) {
  return !(slurm_conf.private_data & PRIVATE_DATA_NODES) || user == 0 || user == slurm_conf.slurm_user_id;
}

} // namespace harmony
