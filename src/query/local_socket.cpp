#include "src/query/local_socket.h"

#include <fmt/format.h>

#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <algorithm>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <thread>
#include <unistd.h>

namespace harmony {
namespace {

class Descriptor {
public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) close(fd_);
  }
  Descriptor(const Descriptor &) = delete;
  Descriptor &operator=(const Descriptor &) = delete;
  int get() const { return fd_; }

private:
  int fd_;
};

// An abstract name begins with a zero byte and is as long as it is told to be.
socklen_t abstract_name(const std::string &address, sockaddr_un &name) {
  std::memset(&name, 0, sizeof name);
  name.sun_family = AF_UNIX;
  const std::size_t length = std::min(address.size(), sizeof name.sun_path - 1);
  std::memcpy(name.sun_path + 1, address.data(), length);
  return static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + length);
}

using Clock = std::chrono::steady_clock;

// Waits until `fd` is ready, or the deadline has passed.
bool ready(int fd, short events, Clock::time_point deadline) {
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
  pollfd waiting = {fd, events, 0};
  return left > 0 && poll(&waiting, 1, static_cast<int>(left)) > 0;
}

bool peer_uid(int fd, uid_t &uid) {
  ucred peer{};
  socklen_t size = sizeof peer;
  if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return false;
  uid = peer.uid;
  return true;
}

bool send_all(int fd, const std::string &text, Clock::time_point deadline) {
  for (std::size_t sent = 0; sent < text.size();) {
    if (!ready(fd, POLLOUT, deadline)) return false;
    const ssize_t n = send(fd, text.data() + sent, text.size() - sent, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n <= 0) return false;
    sent += static_cast<std::size_t>(n);
  }
  return true;
}

// Reads until `stop` or the end, at most `limit` bytes; false on an error or past the deadline.
bool receive(int fd, std::size_t limit, char stop, Clock::time_point deadline, std::string &text) {
  char buffer[4096];
  while (text.size() <= limit && ready(fd, POLLIN, deadline)) {
    const ssize_t n = recv(fd, buffer, sizeof buffer, MSG_DONTWAIT);
    if (n < 0) return false;
    if (n == 0) return stop == '\0';
    text.append(buffer, static_cast<std::size_t>(n));
    if (stop != '\0' && text.back() == stop) {
      text.pop_back();
      return true;
    }
  }
  return false;
}

} // namespace

std::string query_address(const std::string &state_directory) {
  std::uint64_t hash = 0xcbf29ce484222325; // FNV-1a: the path may be longer than a socket's name
  for (unsigned char c : state_directory) hash = (hash ^ c) * 0x100000001b3;
  return fmt::format("slurm-harmony-{:016x}", hash);
}

LocalServer::~LocalServer() {
  if (socket_ >= 0) close(socket_);
}

std::string LocalServer::open(const std::string &address) {
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return fmt::format("socket: {}", std::strerror(errno));
  sockaddr_un name;
  const socklen_t length = abstract_name(address, name);
  if (bind(fd, reinterpret_cast<sockaddr *>(&name), length) != 0 || listen(fd, 16) != 0) {
    const std::string problem = fmt::format("socket @{}: {}", address, std::strerror(errno));
    close(fd);
    return problem;
  }
  socket_ = fd;
  return {};
}

void LocalServer::serve(int timeout_ms, const Answer &answer) {
  pollfd waiting = {socket_, POLLIN, 0};
  if (poll(&waiting, 1, timeout_ms) <= 0) return;
  const Descriptor client(accept4(socket_, nullptr, nullptr, SOCK_CLOEXEC));
  if (client.get() < 0) { // no descriptors left, say: the client still waits, and poll would come back at once
    std::this_thread::sleep_for(std::chrono::milliseconds(timeout_ms));
    return;
  }
  const Clock::time_point deadline = Clock::now() + std::chrono::seconds(1);
  uid_t asker;
  std::string question;
  if (!peer_uid(client.get(), asker) || !receive(client.get(), max_question, '\n', deadline, question)) return;
  send_all(client.get(), answer(asker, question), deadline);
}

LocalAnswer ask_local(const std::string &address, const std::string &question, int timeout_ms) {
  LocalAnswer answer;
  const Descriptor server(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un name;
  const socklen_t length = abstract_name(address, name);
  const Clock::time_point deadline = Clock::now() + std::chrono::milliseconds(timeout_ms);
  if (connect(server.get(), reinterpret_cast<sockaddr *>(&name), length) != 0)
    answer.problem = fmt::format("nobody listens at @{} on this host", address);
  else if (!peer_uid(server.get(), answer.server) || !send_all(server.get(), question + "\n", deadline) ||
           !receive(server.get(), max_answer, '\0', deadline, answer.text))
    answer.problem = fmt::format("no answer from @{} within {} ms", address, timeout_ms);
  return answer;
}

} // namespace harmony
