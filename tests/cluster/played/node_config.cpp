#include "tests/cluster/played/node_config.h"

#include <cstdlib>
#include <set>
#include <unordered_map>

#include "tests/cluster/played/gres.h"
#include "tests/cluster/played/slurm.h"

namespace played {
namespace {

std::vector<std::string> expand(const std::string &hosts) {
  std::vector<std::string> names;
  hostlist_t list = hostlist_create(hosts.c_str());
  if (!list) return names;
  while (char *name = hostlist_shift(list)) {
    names.emplace_back(name);
    free(name);
  }
  hostlist_destroy(list);
  return names;
}

std::string take(char *text) // text comes from xstrdup
{
  std::string copy = text ? text : "";
  xfree(text);
  return copy;
}

std::unordered_map<std::string, const slurm_conf_node_t *> nodes_of_slurm_conf() {
  slurm_conf_node_t **lines = nullptr;
  const int count = slurm_conf_nodename_array(&lines);
  std::unordered_map<std::string, const slurm_conf_node_t *> by_name;
  for (int i = 0; i < count; ++i)
    for (const std::string &name : expand(lines[i]->nodenames)) by_name[name] = lines[i];
  return by_name;
}

Node describe(const std::string &name, const slurm_conf_node_t &line) {
  Node node;
  node.name = name;
  node.hostname = take(slurm_conf_get_hostname(name.c_str()));
  node.address = take(slurm_conf_get_address(name.c_str()));
  node.port = slurm_conf_get_port(name.c_str());
  node.cpus = line.cpus;
  node.boards = line.boards;
  node.sockets = line.tot_sockets;
  node.cores = line.cores;
  node.threads = line.threads;
  node.real_memory = line.real_memory;
  node.tmp_disk = line.tmp_disk;
  node.gres = line.gres ? line.gres : "";
  return node;
}

} // namespace

std::vector<Node> read_nodes(const std::string &nodelist) {
  const std::vector<std::string> names = expand(nodelist);
  if (names.empty()) throw ConfigError("node list '" + nodelist + "' names no node; nothing is played");

  const auto conf = nodes_of_slurm_conf();
  std::set<std::string> seen;
  std::vector<Node> nodes;
  nodes.reserve(names.size());
  for (const std::string &name : names) {
    const auto line = conf.find(name);
    if (line == conf.end())
      throw ConfigError("node '" + name + "' is not in " + slurm_conf.slurm_conf + "; nothing is played");
    if (!seen.insert(name).second)
      throw ConfigError("node '" + name + "' is twice in '" + nodelist + "'; nothing is played");
    nodes.push_back(describe(name, *line->second));
  }
  pack_gres(nodes);
  return nodes;
}

} // namespace played
