#include "tests/cluster/played/gres.h"

#include <strings.h>

#include <fstream>
#include <map>
#include <string>
#include <utility>

#include "tests/cluster/played/slurm.h"

namespace played {
namespace {

using TypedName = std::pair<std::string, std::string>; // ("gpu", "v100"), type may be empty

struct Wanted {
  uint64_t count = 0;
  uint32_t plugin_id = 0;
};

struct Buffer {
  buf_t *buf;
  explicit Buffer(buf_t *b) : buf(b) {}
  Buffer(const Buffer &) = delete;
  Buffer &operator=(const Buffer &) = delete;
  ~Buffer() { free_buf(buf); }
};

std::string unpack_text(buf_t *buf) {
  char *text = nullptr;
  uint32_t size = 0;
  if (unpackstr_xmalloc(&text, &size, buf) != SLURM_SUCCESS)
    throw ConfigError("gres_info packed by Slurm cannot be read back; nothing is played");
  std::string copy = text ? text : "";
  xfree(text);
  return copy;
}

// The fields and their order are those of gres_node_config_pack() in src/common/gres.c.
void count_record(buf_t *buf, std::map<TypedName, uint64_t> &counts) {
  uint32_t magic = 0, cpus = 0, flags = 0, plugin_id = 0;
  uint64_t count = 0;
  unpack32(&magic, buf);
  unpack64(&count, buf);
  unpack32(&cpus, buf);
  unpack32(&flags, buf);
  unpack32(&plugin_id, buf);
  unpack_text(buf); // cpus
  unpack_text(buf); // links
  const std::string name = unpack_text(buf);
  const std::string type = unpack_text(buf);
  unpack_text(buf); // unique_id
  counts[{name, type}] += count;
}

std::map<TypedName, uint64_t> packed_counts(const std::string &packed, uint16_t &records) {
  char *copy = static_cast<char *>(xmalloc(packed.size()));
  packed.copy(copy, packed.size());
  Buffer in(create_buf(copy, packed.size()));
  uint16_t version = 0;
  unpack16(&version, in.buf);
  unpack16(&records, in.buf);
  std::map<TypedName, uint64_t> counts;
  for (uint16_t i = 0; i < records; ++i) count_record(in.buf, counts);
  return counts;
}

std::map<TypedName, Wanted> wanted_gpus(List gres_list) {
  std::map<TypedName, Wanted> wanted;
  if (!gres_list) return wanted;
  ListIterator each = list_iterator_create(gres_list);
  while (void *item = list_next(each)) {
    const auto *state = static_cast<const gres_state_t *>(item);
    if (state->plugin_id != gres_build_id(const_cast<char *>("gpu"))) continue;
    const auto *gpus = static_cast<const gres_node_state_t *>(state->gres_data);
    for (int i = 0; i < gpus->type_cnt; ++i)
      wanted[{"gpu", gpus->type_name[i]}] = {gpus->type_cnt_avail[i], state->plugin_id};
    if (gpus->type_cnt == 0) wanted[{"gpu", ""}] = {gpus->gres_cnt_config, state->plugin_id};
  }
  list_iterator_destroy(each);
  return wanted;
}

void pack_text(std::string text, buf_t *buf) // Slurm wants char*; an empty text is NULL to it
{
  char *chars = text.empty() ? nullptr : text.data();
  packstr(chars, buf);
}

void pack_gpus(buf_t *buf, const TypedName &name, const Wanted &gpus, uint32_t cpus) {
  const uint32_t flags = GRES_CONF_HAS_FILE | GRES_CONF_ENV_SET | GRES_CONF_ENV_DEF |
                         (name.second.empty() ? 0u : uint32_t(GRES_CONF_HAS_TYPE));
  pack32(GRES_MAGIC, buf);
  pack64(gpus.count, buf);
  pack32(cpus, buf);
  pack32(flags, buf);
  pack32(gpus.plugin_id, buf);
  packnull(buf); // cpus: no socket affinity
  packnull(buf); // links
  pack_text(name.first, buf);
  pack_text(name.second, buf);
  packnull(buf); // unique_id
}

std::string bytes(buf_t *buf) { return {get_buf_data(buf), get_buf_offset(buf)}; }

std::string add_missing_gpus(const std::string &packed, List gres_list, uint32_t cpus) {
  uint16_t records = 0;
  std::map<TypedName, uint64_t> present = packed_counts(packed, records);
  Buffer extra(init_buf(1024));
  for (auto [name, gpus] : wanted_gpus(gres_list)) {
    const uint64_t have = present[name];
    if (have >= gpus.count) continue;
    gpus.count -= have;
    pack_gpus(extra.buf, name, gpus, cpus);
    ++records;
  }
  Buffer head(init_buf(16));
  pack16(SLURM_PROTOCOL_VERSION, head.buf);
  pack16(records, head.buf);
  const std::string header = bytes(head.buf);
  return header + packed.substr(header.size()) + bytes(extra.buf);
}

std::string pack_one(const Node &node) {
  List gres_list = nullptr;
  std::string gres = node.gres; // Slurm wants char*
  if (gres_init_node_config(gres.data(), &gres_list) != SLURM_SUCCESS)
    error("node %s: Gres=%s of slurm.conf is invalid; slurmctld will say what becomes of it", node.name.c_str(),
          gres.c_str());
  std::string name = node.name;
  gres_g_node_config_load(node.cpus, name.data(), gres_list, nullptr, nullptr);
  Buffer out(init_buf(1024));
  gres_node_config_pack(out.buf);
  std::string packed = add_missing_gpus(bytes(out.buf), gres_list, node.cpus);
  FREE_NULL_LIST(gres_list);
  return packed;
}

// gres.conf without NodeName= means the same to all nodes of one kind: it is then read once a kind, because reading
// it 2,000 times takes longer than everything else at the start.
bool gres_conf_differs_by_node() {
  char *path = get_extra_conf_path(const_cast<char *>("gres.conf"));
  std::ifstream file(path);
  xfree(path);
  std::string line;
  while (std::getline(file, line))
    for (size_t at = 0; at < line.size() && line[at] != '#'; ++at)
      if (strncasecmp(line.c_str() + at, "NodeName", 8) == 0) return true;
  return false;
}

} // namespace

void pack_gres(std::vector<Node> &nodes) {
  const bool by_node = gres_conf_differs_by_node();
  std::map<std::pair<std::string, uint16_t>, std::string> known;
  for (Node &node : nodes) {
    std::string &packed = known[{node.gres, node.cpus}];
    if (packed.empty() || by_node) packed = pack_one(node);
    node.gres_info = packed;
  }
}

} // namespace played
