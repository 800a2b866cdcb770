#include "src/run/role_environment.h"

#include <fmt/format.h>
#include <json/json.h>

namespace harmony {
namespace {

// execve takes no longer string (MAX_ARG_STRLEN, 32 pages of 4 KB).
constexpr std::size_t longest_string = 131071;

struct Place {
  const GangNode *node = nullptr;
  int local = 0;
};

Place place_of(const GangLayout &layout, Role role, int index) {
  for (const GangNode &node : layout.nodes) {
    if (index < count(node, role)) return {&node, index};
    index -= count(node, role);
  }
  return {};
}

std::string joined(const std::vector<std::string> &words) {
  std::string text;
  for (const std::string &word : words) text += (text.empty() ? "" : ",") + word;
  return text;
}

Json::Value json_list(const std::vector<std::string> &words) {
  Json::Value list(Json::arrayValue);
  for (const std::string &word : words) list.append(word);
  return list;
}

std::string tf_config(const GangLayout &layout, Role role, int index) {
  Json::Value config;
  config["cluster"]["worker"] = json_list(role_hosts(layout, Role::worker));
  if (layout.ps > 0) config["cluster"]["ps"] = json_list(role_hosts(layout, Role::ps));
  config["task"]["type"] = role_name(role);
  config["task"]["index"] = index;
  Json::StreamWriterBuilder writer;
  writer["indentation"] = "";
  return Json::writeString(writer, config);
}

void add_harmony(const GangLayout &layout, Role role, int index, Environment &set) {
  set["HARMONY_ROLE"] = role_name(role);
  set["HARMONY_INDEX"] = std::to_string(index);
  set["HARMONY_WORKERS"] = std::to_string(layout.workers);
  set["HARMONY_PS"] = std::to_string(layout.ps);
  set["HARMONY_WORKER_HOSTS"] = joined(role_hosts(layout, Role::worker));
  set["HARMONY_PS_HOSTS"] = joined(role_hosts(layout, Role::ps));
}

// ps-lite has a third role, the scheduler, that the others meet at the root address. A gang has no task for it: it is
// PS 0's command that starts one beside itself (DMLC_ROLE=scheduler COMMAND &), which is why the root is PS 0's host.
void add_dmlc(const GangLayout &layout, Role role, Environment &set) {
  set["DMLC_ROLE"] = role == Role::worker ? "worker" : "server";
  set["DMLC_PS_ROOT_URI"] = place_of(layout, Role::ps, 0).node->address;
  set["DMLC_PS_ROOT_PORT"] = std::to_string(layout.base_port + layout.workers + layout.ps);
  set["DMLC_NUM_WORKER"] = std::to_string(layout.workers);
  set["DMLC_NUM_SERVER"] = std::to_string(layout.ps);
}

void add_torch(const GangLayout &layout, int index, int local, Environment &set) {
  set["MASTER_ADDR"] = place_of(layout, Role::worker, 0).node->address;
  set["MASTER_PORT"] = std::to_string(layout.base_port + layout.workers + layout.ps + 1);
  set["RANK"] = std::to_string(index);
  set["WORLD_SIZE"] = std::to_string(layout.workers);
  set["LOCAL_RANK"] = std::to_string(local);
}

} // namespace

std::vector<std::string> role_hosts(const GangLayout &layout, Role role) {
  std::vector<std::string> hosts;
  int port = layout.base_port + (role == Role::ps ? layout.workers : 0);
  for (const GangNode &node : layout.nodes) {
    const bool bare_ipv6 = node.address.find(':') != std::string::npos && node.address.front() != '[';
    for (int i = 0; i < count(node, role); ++i)
      hosts.push_back(fmt::format(bare_ipv6 ? "[{}]:{}" : "{}:{}", node.address, port++));
  }
  return hosts;
}

int task_index(const GangLayout &layout, Role role, const std::string &node, int local) {
  int before = 0;
  for (const GangNode &candidate : layout.nodes) {
    if (candidate.name == node) return local >= 0 && local < count(candidate, role) ? before + local : -1;
    before += count(candidate, role);
  }
  return -1;
}

RoleEnvironment role_environment(const GangLayout &layout, Role role, int index) {
  RoleEnvironment result;
  const Place place = place_of(layout, role, index);
  if (index < 0 || !place.node) {
    result.problem = fmt::format("there is no {} {}: the gang has {}", role_name(role), index, count(layout, role));
    return result;
  }
  Environment &set = result.set;
  add_harmony(layout, role, index, set);
  set["TF_CONFIG"] = tf_config(layout, role, index);
  for (const char *name : {"DMLC_ROLE", "DMLC_PS_ROOT_URI", "DMLC_PS_ROOT_PORT", "DMLC_NUM_WORKER", "DMLC_NUM_SERVER",
                           "MASTER_ADDR", "MASTER_PORT", "RANK", "WORLD_SIZE", "LOCAL_RANK", "HARMONY_PLAN"})
    result.unset.push_back(name);
  if (layout.ps > 0) add_dmlc(layout, role, set);
  if (role == Role::worker) add_torch(layout, index, place.local, set);
  if (role == Role::ps) set["CUDA_VISIBLE_DEVICES"] = ""; // a PS has no GPU, but without cgroups it would see them all
  for (const auto &[name, value] : set)
    if (name.size() + 1 + value.size() > longest_string)
      result.problem = fmt::format("{} would have {} characters; an environment variable holds {}", name, value.size(),
                                   longest_string - name.size() - 1);
  return result;
}

} // namespace harmony
