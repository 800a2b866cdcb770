#include "tests/cluster/played/loop.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "tests/cluster/played/slurm.h"

namespace played {
namespace {

constexpr int worker_count = 4;
constexpr int backlog = 64;
constexpr uint64_t signal_event = UINT64_MAX;
constexpr uint64_t wake_event = UINT64_MAX - 1;

void allow_open_files(size_t needed) {
  struct rlimit limit = {};
  getrlimit(RLIMIT_NOFILE, &limit);
  if (limit.rlim_cur >= needed) return;
  limit.rlim_cur = needed;
  limit.rlim_max = std::max<rlim_t>(limit.rlim_max, needed);
  if (setrlimit(RLIMIT_NOFILE, &limit) != 0)
    throw ConfigError("cannot raise the limit of open files to " + std::to_string(needed) + ": " + strerror(errno) +
                      "; nothing is played. Raise the hard limit (ulimit -Hn)");
}

[[noreturn]] void fail(const Node &node, const char *what) {
  throw ConfigError("node " + node.name + ": cannot " + what + " " + node.address + ":" + std::to_string(node.port) +
                    ": " + strerror(errno) + "; nothing is played");
}

Fd listen_at(const Node &node) {
  sockaddr_in addr = {};
  addr.sin_family = AF_INET;
  addr.sin_port = htons(node.port);
  if (inet_pton(AF_INET, node.address.c_str(), &addr.sin_addr) != 1)
    throw ConfigError("node " + node.name + ": NodeAddr=" + node.address +
                      " is not an IPv4 address; nothing is played");
  Fd fd(socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (fd.get() < 0) fail(node, "open a socket for");
  const int on = 1;
  setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (bind(fd.get(), reinterpret_cast<sockaddr *>(&addr), sizeof addr) != 0) fail(node, "bind to");
  if (listen(fd.get(), backlog) != 0) fail(node, "listen at");
  return fd;
}

} // namespace

Fd::~Fd() {
  if (fd_ >= 0) close(fd_);
}

Fd &Fd::operator=(Fd &&other) noexcept {
  std::swap(fd_, other.fd_);
  return *this;
}

std::vector<Fd> listen_for(const std::vector<Node> &nodes) {
  allow_open_files(nodes.size() + 512);
  std::vector<Fd> listeners;
  listeners.reserve(nodes.size());
  for (const Node &node : nodes) listeners.push_back(listen_at(node));
  return listeners;
}

void Connections::start() {
  for (int i = 0; i < worker_count; ++i) threads_.emplace_back([this] { work(); });
}

void Connections::stop() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  for (std::thread &thread : threads_) thread.join();
  threads_.clear();
  for (const Waiting &left : waiting_) close(left.fd);
  waiting_.clear();
}

void Connections::put(int fd, size_t node) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    waiting_.push_back({fd, node});
  }
  changed_.notify_one();
}

void Connections::work() {
  for (;;) {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [this] { return stopping_ || !waiting_.empty(); });
    if (stopping_) return;
    const Waiting next = waiting_.front();
    waiting_.pop_front();
    lock.unlock();
    messages_.serve(next.fd, next.node);
  }
}

Loop::Loop(const std::vector<Fd> &listeners, int signal_fd, int wake_fd, JobTable &jobs, Outbox &outbox,
           Connections &connections)
    : listeners_(listeners), signal_fd_(signal_fd), wake_fd_(wake_fd), jobs_(jobs), outbox_(outbox),
      connections_(connections), epoll_(epoll_create1(EPOLL_CLOEXEC)) {
  const auto watch = [this](int fd, uint64_t what) {
    epoll_event event = {};
    event.events = EPOLLIN;
    event.data.u64 = what;
    if (epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) != 0)
      throw ConfigError(std::string("cannot watch a socket: ") + strerror(errno) + "; nothing is played");
  };
  for (size_t i = 0; i < listeners.size(); ++i) watch(listeners[i].get(), i);
  watch(signal_fd, signal_event);
  watch(wake_fd, wake_event);
}

Loop::Until Loop::run(size_t nodes_to_register, std::chrono::seconds limit) {
  const auto too_late = Clock::now() + limit;
  for (;;) {
    epoll_event events[64];
    const int count = epoll_wait(epoll_.get(), events, 64, wait_ms(nodes_to_register > 0));
    for (int i = 0; i < count; ++i)
      if (!handle(events[i].data.u64)) return Until::Signal;
    post_due_jobs();
    if (nodes_to_register == 0) continue;
    if (outbox_.registered() >= nodes_to_register) return Until::Registered;
    if (Clock::now() > too_late) return Until::TooLate;
  }
}

bool Loop::handle(uint64_t what) {
  if (what == signal_event) return false;
  eventfd_t ignored = 0;
  if (what == wake_event)
    eventfd_read(wake_fd_, &ignored);
  else
    accept_all(what);
  return true;
}

void Loop::accept_all(size_t node) {
  for (;;) {
    const int fd = accept4(listeners_[node].get(), nullptr, nullptr, SOCK_CLOEXEC);
    if (fd >= 0) {
      connections_.put(fd, node);
    } else if (errno != EINTR && errno != ECONNABORTED) {
      if (errno != EAGAIN) error("accept: %m; the connection waits");
      return;
    }
  }
}

void Loop::post_due_jobs() {
  for (const Completion &completion : jobs_.take_due(Clock::now())) {
    Letter letter;
    letter.kind = Letter::Kind::CompleteBatch;
    letter.node = completion.node;
    letter.job_id = completion.job_id;
    letter.completion = completion;
    outbox_.put(letter);
  }
}

int Loop::wait_ms(bool registering) const {
  int64_t wait = registering ? 20 : 60'000;
  if (const auto due = jobs_.next_due()) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(*due - Clock::now()).count();
    wait = std::clamp<int64_t>(left, 0, wait);
  }
  return static_cast<int>(wait);
}

} // namespace played
