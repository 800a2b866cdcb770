// The one thread that waits for everybody: it accepts connections at all ports, hands them to a few workers,
// and rings the bell of jobs whose time is over.
#ifndef PLAYED_NODES_LOOP_H
#define PLAYED_NODES_LOOP_H

#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

#include "tests/cluster/played/node_config.h"
#include "tests/cluster/played/jobs.h"
#include "tests/cluster/played/messages.h"
#include "tests/cluster/played/outbox.h"

namespace played {

// A file descriptor that closes itself.
class Fd {
public:
  explicit Fd(int fd = -1) : fd_(fd) {}
  Fd(Fd &&other) noexcept : fd_(other.fd_) { other.fd_ = -1; }
  Fd &operator=(Fd &&other) noexcept;
  ~Fd();
  int get() const { return fd_; }

private:
  int fd_;
};

// One listening socket a node, at exactly its NodeAddr:Port. Throws ConfigError.
std::vector<Fd> listen_for(const std::vector<Node> &nodes);

// Connections that wait for a worker.
class Connections {
public:
  explicit Connections(Messages &messages) : messages_(messages) {}
  ~Connections() { stop(); }
  void start();
  void stop();
  void put(int fd, size_t node);

private:
  struct Waiting {
    int fd;
    size_t node;
  };
  void work();

  Messages &messages_;
  std::mutex mutex_; // of the three below
  std::condition_variable changed_;
  std::deque<Waiting> waiting_;
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

class Loop {
public:
  // signal_fd: a signalfd for SIGTERM and SIGINT; wake_fd: the eventfd of jobs.
  Loop(const std::vector<Fd> &listeners, int signal_fd, int wake_fd, JobTable &jobs, Outbox &outbox,
       Connections &connections);

  enum class Until { Signal, Registered, TooLate };
  // Runs until a signal; or, with a number of nodes, until that many have registered, or it is too late for them.
  Until run(size_t nodes_to_register = 0, std::chrono::seconds limit = std::chrono::seconds(0));

private:
  bool handle(uint64_t what); // false: a signal came
  void accept_all(size_t node);
  void post_due_jobs();
  int wait_ms(bool registering) const;

  const std::vector<Fd> &listeners_;
  const int signal_fd_;
  const int wake_fd_;
  JobTable &jobs_;
  Outbox &outbox_;
  Connections &connections_;
  Fd epoll_;
};

} // namespace played

#endif
