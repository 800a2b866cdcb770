#include "plugin/slurm_version.h"

#include "plugin/client/node_extra.h"

namespace harmony {
namespace {

NodeExtra failed(const std::string &node) {
  NodeExtra result;
  const int code = errno;
  result.problem = "node " + node + ": " + slurm_strerror(code);
  result.try_again = code == SLURM_COMMUNICATIONS_CONNECTION_ERROR || code == SLURM_COMMUNICATIONS_SEND_ERROR ||
                     code == SLURM_COMMUNICATIONS_RECEIVE_ERROR || code == SLURM_PROTOCOL_SOCKET_IMPL_TIMEOUT ||
                     code == ESLURM_IN_STANDBY_MODE || code == SLURMCTLD_COMMUNICATIONS_CONNECTION_ERROR ||
                     code == SLURMCTLD_COMMUNICATIONS_SEND_ERROR || code == SLURMCTLD_COMMUNICATIONS_RECEIVE_ERROR;
  return result;
}

} // namespace

std::string node_on_host(const std::string &host) {
  slurm_init(nullptr);
  char *name = slurm_conf_get_nodename(host.c_str());
  const std::string node = name ? name : host;
  xfree(name);
  return node;
}

NodeExtra read_node_extra(const std::string &node) {
  slurm_init(nullptr);
  std::string name = node; // the API takes a char *
  node_info_msg_t *message = nullptr;
  if (slurm_load_node_single(&message, name.data(), SHOW_ALL) != SLURM_SUCCESS) return failed(node);
  NodeExtra result;
  if (message->record_count < 1 || !message->node_array[0].name)
    result.problem = "node " + node + ": slurmctld has no node of that name";
  else if (message->node_array[0].extra)
    result.extra = message->node_array[0].extra;
  slurm_free_node_info_msg(message);
  return result;
}

NodeExtra write_node_extra(const std::string &node, const std::string &extra) {
  slurm_init(nullptr);
  std::string name = node, value = extra;
  update_node_msg_t update;
  slurm_init_update_node_msg(&update);
  update.node_names = name.data();
  update.extra = value.data();
  if (slurm_update_node(&update) != SLURM_SUCCESS) return failed(node);
  NodeExtra result;
  result.extra = extra;
  return result;
}

} // namespace harmony
