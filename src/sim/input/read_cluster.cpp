// The file of a cluster: see sim_cluster.h.
#include "src/sim/input/json_file.h"
#include "src/sim/input/line_reader.h"
#include "src/sim/input/sim_cluster.h"
#include "src/discover/profiles.h"
#include "src/publish/compact.h"
#include "src/values/printable.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <stdexcept>

namespace harmony {
namespace {

void check_keys(const Json::Value &object, const std::vector<std::string> &known) {
  for (const std::string &key : object.getMemberNames())
    if (std::find(known.begin(), known.end(), key) == known.end())
      throw std::runtime_error(
          fmt::format("unknown key \"{}\"; the keys are {}", printable(key), fmt::join(known, ", ")));
}

void read_word(const Json::Value &object, const char *key, std::string &value) {
  if (!object.isMember(key)) return;
  if (!object[key].isString()) throw std::runtime_error(fmt::format("{} is not a string", key));
  value = object[key].asString();
}

void read_whole(const Json::Value &object, const char *key, int least, int most, int &value) {
  if (!object.isMember(key)) return;
  const Json::Value &given = object[key];
  if (!given.isInt() || given.asInt() < least || given.asInt() > most)
    throw std::runtime_error(fmt::format("{} is not a whole number from {} to {}", key, least, most));
  value = given.asInt();
}

NodeGroup group_of(const Json::Value &object, const std::filesystem::path &folder) {
  if (!object.isObject()) throw std::runtime_error("is not an object");
  check_keys(object, {"name", "count", "topology", "gpu", "nic_mbps", "rack"});
  NodeGroup group;
  read_word(object, "name", group.name);
  read_whole(object, "count", 1, most_sim_nodes, group.count);
  read_word(object, "topology", group.topology);
  read_word(object, "gpu", group.gpu);
  read_whole(object, "nic_mbps", 0, most_nic_mbps, group.nic_mbps);
  read_word(object, "rack", group.rack);
  const bool is_path = !synthetic_topology(group.topology) &&
                       std::string_view(group.topology).substr(0, compact_prefix.size()) != compact_prefix;
  if (is_path && group.topology.find('\0') != std::string::npos)
    throw std::runtime_error("topology has a NUL character");
  if (is_path) group.topology = (folder / group.topology).string();
  return group;
}

SimCluster cluster_of(const Json::Value &root, const std::string &path) {
  check_keys(root, {"name", "groups"});
  SimCluster cluster;
  cluster.name = std::filesystem::path(path).stem().string();
  read_word(root, "name", cluster.name);
  cluster.name = one_line(cluster.name, 100);
  const Json::Value &groups = root["groups"];
  if (!groups.isArray() || groups.empty()) throw std::runtime_error("groups is not a list of at least one group");
  for (Json::ArrayIndex i = 0; i < groups.size(); ++i) {
    NodeGroup group;
    try {
      group = group_of(groups[i], std::filesystem::path(path).parent_path());
    } catch (const std::runtime_error &problem) {
      const Json::Value name = groups[i].isObject() ? groups[i]["name"] : Json::Value();
      throw std::runtime_error(fmt::format("group {}{}: {}", i + 1,
                                           name.isString() ? fmt::format(" (\"{}\")", printable(name.asString())) : "",
                                           problem.what()));
    }
    add_group(cluster, group);
  }
  return cluster;
}

} // namespace

SimCluster read_cluster(const std::string &path) {
  const Json::Value root = read_json_object(path);
  try {
    return cluster_of(root, path);
  } catch (const std::runtime_error &problem) {
    throw BadInput(fmt::format("{}: {}", shown_path(path), problem.what()));
  }
}

} // namespace harmony
