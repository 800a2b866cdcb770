#include "plugin/slurm_version.h"

#include "plugin/engine/slurm_nodes.h"

#include "plugin/engine/slurm_locks.h"
#include "plugin/engine/slurm_values.h"
#include "src/observe/usage.h"
#include "src/publish/compact.h"
#include "src/publish/extra_field.h"

#include <algorithm>

extern "C" {
#include "src/common/node_conf.h"
}

namespace harmony {
namespace {

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

// From the first mark of what steps used on; empty if there is none. An Extra of absurd length is not looked through.
std::string usage_of(const node_record_t &node) {
  constexpr std::size_t longest = 16 << 10;
  const std::string_view extra(node.extra ? node.extra : "", node.extra ? strnlen(node.extra, longest) : 0);
  const std::size_t at = extra.find(usage_mark_begin);
  return at == extra.npos ? "" : std::string(extra.substr(at));
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

namespace {

// So many nodes are looked at in one go: a fraction of a millisecond.
constexpr int slice = 256;

NodeHardware hardware(const node_record_t &node) {
  NodeHardware hardware;
  hardware.name = node.name;
  hardware.cores = node.tot_cores;
  hardware.threads_per_core = node.tpc > 1 ? node.tpc : 1;
  hardware.weight = static_cast<int>(std::min<std::uint32_t>(node.config_ptr ? node.config_ptr->weight : 1, INT32_MAX));
  hardware.memory_mb = node.real_memory > node.mem_spec_limit ? node.real_memory - node.mem_spec_limit : 0;
  if (node.node_spec_bitmap) {
    hardware.specialised = Bits(hardware.cores);
    hardware.specialised.set_all();
    hardware.specialised -= bits_of(node.node_spec_bitmap);
  }
  if (const gres_node_state_t *gpus = gpu_state(node))
    hardware.gpus = static_cast<int>(std::min<std::uint64_t>(gpus->gres_cnt_avail, max_gpus));
  return hardware;
}

// False at the end of the nodes.
bool look_at_slice(const TopologyStore &store, int from, NodeChanges &changes) {
  const ReadLocks lock(to_read_nodes);
  const int end = std::min(from + slice, node_record_count);
  changes.nodes.resize(static_cast<std::size_t>(node_record_count));
  for (int i = from; i < end; ++i) {
    const node_record_t *node = node_record_table_ptr[i];
    if (!node || !node->name) continue;
    changes.nodes[static_cast<std::size_t>(i)] = hardware(*node);
    const std::uint64_t gres_signature = signature(*node);
    if (store.is_news(node->name, published_by(*node), gres_signature))
      changes.changed.push_back({copy_facts(*node), gres_signature});
    if (std::string usage = usage_of(*node); !usage.empty()) changes.usage.push_back({node->name, std::move(usage)});
  }
  return end < node_record_count;
}

} // namespace

NodeChanges changed_nodes(const TopologyStore &store, time_t &last_look) {
  NodeChanges changes;
  {
    const ReadLocks lock(to_read_nodes);
    // Updates are stamped in whole seconds: one within the second of the last look may have come after it.
    if (last_node_update < last_look - 1) return changes;
    last_look = time(nullptr);
  }
  changes.looked = true;
  for (int from = 0; look_at_slice(store, from, changes); from += slice) {
  }
  return changes;
}

bool may_see_nodes(uid_t user) {
  const ReadLocks lock(to_read_conf);
  return !(slurm_conf.private_data & PRIVATE_DATA_NODES) || user == 0 || user == slurm_conf.slurm_user_id;
}

} // namespace harmony
