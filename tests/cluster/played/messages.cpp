// Receiving and answering. What a message does is in played_nodes_actions.cpp.
#include "tests/cluster/played/messages.h"

#include <cstdlib>

#include <unistd.h>

#include "tests/cluster/played/slurm.h"

namespace played {
namespace {

// slurmctld sends as soon as it has connected; a silent connection must not hold one of the few workers for long.
constexpr int receive_ms = 10'000;

std::vector<std::string> take_forward_list(header_t &header) {
  std::vector<std::string> names;
  if (header.forward.cnt > 0) {
    hostlist_t list = hostlist_create(header.forward.nodelist);
    while (char *name = hostlist_shift(list)) {
      names.emplace_back(name);
      free(name);
    }
    hostlist_destroy(list);
  }
  destroy_forward(&header.forward);
  forward_init(&header.forward);
  return names;
}

// The same message without the order to pass it on: we answer for the other nodes ourselves, because workers that
// wait for workers of the same small pool would block each other.
buf_t *without_forwarding(header_t &header, buf_t *rest) {
  buf_t *buffer = init_buf(remaining_buf(rest) + 1024);
  pack_header(&header, buffer);
  packmem_array(get_buf_data(rest) + get_buf_offset(rest), remaining_buf(rest), buffer);
  buffer->size = get_buf_offset(buffer); // what is behind is not part of the message
  set_buf_offset(buffer, 0);
  return buffer;
}

struct Body {
  uint16_t type;
  void *data; // of Slurm's allocator, to be freed by slurm_free_msg_data
};

Body body_of(const Answer &answer, const std::string &node_name) {
  if (answer.kind == Answer::Kind::Ping) {
    auto *ping = static_cast<ping_slurmd_resp_msg_t *>(xmalloc(sizeof(ping_slurmd_resp_msg_t)));
    return {RESPONSE_PING_SLURMD, ping};
  }
  if (answer.kind == Answer::Kind::Energy) {
    auto *energy = static_cast<acct_gather_node_resp_msg_t *>(xmalloc(sizeof(acct_gather_node_resp_msg_t)));
    energy->node_name = xstrdup(node_name.c_str());
    energy->sensor_cnt = 1;
    energy->energy = acct_gather_energy_alloc(1);
    return {RESPONSE_ACCT_GATHER_UPDATE, energy};
  }
  auto *code = static_cast<return_code_msg_t *>(xmalloc(sizeof(return_code_msg_t)));
  code->return_code = answer.rc;
  return {RESPONSE_SLURM_RC, code};
}

ret_data_info_t *returned(const std::string &node_name, const Body &body, int err) {
  auto *info = static_cast<ret_data_info_t *>(xmalloc(sizeof(ret_data_info_t)));
  info->node_name = xstrdup(node_name.c_str());
  info->type = body.type;
  info->data = body.data;
  info->err = err;
  return info;
}

bool send_answer(slurm_msg_t &msg, const Answer &answer, const std::string &node_name) {
  const Body body = body_of(answer, node_name);
  slurm_msg_t response;
  slurm_msg_t_copy(&response, &msg);
  response.msg_type = body.type;
  response.data = body.data;
  response.address = msg.address;
  const bool sent = slurm_send_node_msg(msg.conn_fd, &response) >= 0;
  if (!sent)
    error("%s: answer to %s cannot be sent: %m; slurmctld will ask again", node_name.c_str(),
          rpc_num2string(msg.msg_type));
  slurm_free_msg_data(static_cast<slurm_msg_type_t>(body.type), body.data);
  return sent;
}

} // namespace

Messages::Messages(const std::vector<Node> &nodes, JobTable &jobs, Outbox &outbox)
    : nodes_(nodes), jobs_(jobs), outbox_(outbox) {
  for (size_t i = 0; i < nodes.size(); ++i) index_[nodes[i].name] = i;
}

bool Messages::receive(int fd, slurm_msg_t &msg, std::vector<std::string> &forward_to) {
  char *raw = nullptr;
  size_t size = 0;
  if (slurm_msg_recvfrom_timeout(fd, &raw, &size, 0, receive_ms) < 0) return false;
  buf_t *buffer = create_buf(raw, size);
  header_t header = {};
  if (unpack_header(&header, buffer) != SLURM_SUCCESS) {
    free_buf(buffer);
    return false;
  }
  if (header.forward.cnt > 0) {
    forward_to = take_forward_list(header);
    buf_t *plain = without_forwarding(header, buffer);
    free_buf(buffer);
    buffer = plain;
  } else {
    set_buf_offset(buffer, 0);
  }
  FREE_NULL_LIST(header.ret_list);
  msg.conn_fd = fd;
  const bool good = slurm_unpack_received_msg(&msg, fd, buffer) == SLURM_SUCCESS;
  free_buf(buffer);
  return good;
}

std::vector<Answer> Messages::answers_of(slurm_msg_t &msg, size_t node, const std::vector<std::string> &forward_to) {
  std::vector<Answer> answers{act(msg, node)};
  if (!forward_to.empty()) msg.ret_list = list_create(destroy_data_info);
  for (const std::string &name : forward_to) {
    const auto at = index_.find(name);
    if (at == index_.end()) {
      error("%s: asked to forward %s to %s, which is not played here; reported as not reachable. "
            "Set TreeWidth=65533 in slurm.conf",
            nodes_[node].name.c_str(), rpc_num2string(msg.msg_type), name.c_str());
      list_append(msg.ret_list,
                  returned(name, {RESPONSE_FORWARD_FAILED, nullptr}, SLURM_COMMUNICATIONS_CONNECTION_ERROR));
      continue;
    }
    answers.push_back(act(msg, at->second));
    list_append(msg.ret_list, returned(name, body_of(answers.back(), name), SLURM_SUCCESS));
  }
  return answers;
}

void Messages::follow_up(const Answer &answer, size_t node, bool sent) {
  if (answer.start_job != 0) {
    if (sent) {
      jobs_.start(answer.start_job);
    } else {
      error("job %u: launch could not be confirmed; the job is not started here", answer.start_job);
      jobs_.forget(answer.start_job, node);
    }
  }
  for (const Letter &letter : answer.letters) outbox_.put(letter, answer.letters_after);
}

void Messages::serve(int fd, size_t node) {
  slurm_msg_t msg;
  slurm_msg_t_init(&msg);
  std::vector<std::string> forward_to;
  if (receive(fd, msg, forward_to)) {
    const std::vector<Answer> answers = answers_of(msg, node, forward_to);
    const Answer &own = answers.front();
    const bool sent = own.kind == Answer::Kind::None || send_answer(msg, own, nodes_[node].name);
    close(fd);
    for (const Answer &answer : answers) follow_up(answer, node, sent);
  } else {
    error("%s: a message could not be read: %m; connection closed", nodes_[node].name.c_str());
    close(fd);
  }
  slurm_free_msg_members(&msg);
}

} // namespace played
