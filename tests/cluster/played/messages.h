// What a played node does with a message that arrived at its port.
//
// serve() is called by the worker threads of the loop; it blocks while it reads and answers one connection.
#ifndef PLAYED_NODES_MESSAGES_H
#define PLAYED_NODES_MESSAGES_H

#include <atomic>
#include <string>
#include <unordered_map>
#include <vector>

#include "tests/cluster/played/node_config.h"
#include "tests/cluster/played/jobs.h"
#include "tests/cluster/played/outbox.h"

struct slurm_msg;

namespace played {

// The answer of one node to one message.
struct Answer {
  enum class Kind { ReturnCode, Ping, Energy, None };
  Kind kind = Kind::ReturnCode;
  int rc = 0;
  uint32_t start_job = 0;      // whose timer begins when slurmctld has got the answer
  std::vector<Letter> letters; // to be posted after the answer
  Clock::duration letters_after{0};
};

class Messages {
public:
  // All must outlive this object.
  Messages(const std::vector<Node> &nodes, JobTable &jobs, Outbox &outbox);

  void serve(int fd, size_t node); // reads, acts, answers; closes fd

private:
  Answer act(const slurm_msg &msg, size_t node);
  Answer act_on_node(const slurm_msg &msg, size_t node);
  Answer act_on_job(const slurm_msg &msg, size_t node);
  Answer launch_batch(const slurm_msg &msg, size_t node);
  Answer launch_prolog(const slurm_msg &msg, size_t node);
  Answer terminate(const slurm_msg &msg, size_t node);
  Answer abort(const slurm_msg &msg, size_t node);
  Answer signal(const slurm_msg &msg, size_t node);
  Answer suspend(const slurm_msg &msg, size_t node);
  Answer reboot(size_t node);
  Answer shut_down(size_t node);

  bool receive(int fd, slurm_msg &msg, std::vector<std::string> &forward_to);
  std::vector<Answer> answers_of(slurm_msg &msg, size_t node, const std::vector<std::string> &forward_to);
  void follow_up(const Answer &answer, size_t node, bool sent);

  const std::vector<Node> &nodes_;
  JobTable &jobs_;
  Outbox &outbox_;
  std::unordered_map<std::string, size_t> index_;
  std::atomic<bool> shutting_down_{false};
};

} // namespace played

#endif
