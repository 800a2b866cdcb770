#include "contrib/examples/ps_training/wire.h"

#include <cerrno>
#include <chrono>
#include <cstring>
#include <memory>
#include <netdb.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdexcept>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

namespace ps_training {
namespace {

using Clock = std::chrono::steady_clock;
constexpr int patience_seconds = 30;
constexpr std::uint32_t magic = 0x48505331;

struct Header {
  std::uint32_t magic, type, number, length;
};

[[noreturn]] void fail(const std::string &peer, const std::string &what) {
  throw std::runtime_error(peer + ": " + what);
}

[[noreturn]] void fail_with_errno(const std::string &peer, const std::string &what) {
  const bool late = errno == EAGAIN || errno == EWOULDBLOCK;
  fail(peer, what + ": " + (late ? "no word for " + std::to_string(patience_seconds) + " s" : std::strerror(errno)));
}

using Addresses = std::unique_ptr<addrinfo, decltype(&freeaddrinfo)>;

Addresses look_up(const std::string &address) {
  const std::size_t colon = address.rfind(':');
  if (colon == std::string::npos || colon == 0) fail(address, "host:port is wanted");
  std::string host = address.substr(0, colon);
  if (host.front() == '[' && host.back() == ']') host = host.substr(1, host.size() - 2);
  addrinfo hints{}, *found = nullptr;
  hints.ai_socktype = SOCK_STREAM;
  const int error = getaddrinfo(host.c_str(), address.c_str() + colon + 1, &hints, &found);
  if (error != 0) fail(address, gai_strerror(error));
  return {found, freeaddrinfo};
}

void limit_time(int socket) {
  const timeval limit{patience_seconds, 0};
  const int on = 1;
  setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
  setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

} // namespace

Connection::Connection(int socket, std::string peer) : socket_(socket), peer_(std::move(peer)) { limit_time(socket_); }

Connection::Connection(Connection &&other) noexcept : socket_(other.socket_), peer_(std::move(other.peer_)) {
  other.socket_ = -1;
}

Connection::~Connection() {
  if (socket_ >= 0) close(socket_);
}

void Connection::send(Message type, std::uint32_t number, const std::vector<float> &values) {
  const Header header{magic, static_cast<std::uint32_t>(type), number, static_cast<std::uint32_t>(values.size())};
  std::string bytes(sizeof header + values.size() * sizeof(float), '\0');
  std::memcpy(&bytes[0], &header, sizeof header);
  if (!values.empty()) std::memcpy(&bytes[sizeof header], values.data(), values.size() * sizeof(float));
  for (std::size_t sent = 0; sent < bytes.size();) {
    const ssize_t now = ::send(socket_, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
    if (now < 0 && errno == EINTR) continue;
    if (now <= 0) fail_with_errno(peer_, "cannot send");
    sent += static_cast<std::size_t>(now);
  }
}

void Connection::read_all(void *data, std::size_t size) {
  for (std::size_t got = 0; got < size;) {
    const ssize_t now = recv(socket_, static_cast<char *>(data) + got, size - got, 0);
    if (now < 0 && errno == EINTR) continue;
    if (now == 0) fail(peer_, "ended the connection");
    if (now < 0) fail_with_errno(peer_, "cannot receive");
    got += static_cast<std::size_t>(now);
  }
}

// The length is checked before anything is read or allocated for it.
std::vector<float> Connection::receive_any(Message type, std::size_t length, std::uint32_t &number) {
  Header header{};
  read_all(&header, sizeof header);
  if (header.magic != magic) fail(peer_, "speaks something else");
  if (header.type != static_cast<std::uint32_t>(type) || header.length != length)
    fail(peer_, "sent message " + std::to_string(header.type) + " with " + std::to_string(header.length) +
                    " numbers; wanted was " + std::to_string(static_cast<std::uint32_t>(type)) + " with " +
                    std::to_string(length));
  std::vector<float> values(length);
  read_all(values.data(), length * sizeof(float));
  number = header.number;
  return values;
}

std::vector<float> Connection::receive(Message type, std::uint32_t number, std::size_t length) {
  std::uint32_t found = 0;
  std::vector<float> values = receive_any(type, length, found);
  if (found != number)
    fail(peer_, "is at step " + std::to_string(found) + ", and this is step " + std::to_string(number));
  return values;
}

std::uint32_t Connection::receive_number(Message type) {
  std::uint32_t number = 0;
  receive_any(type, 0, number);
  return number;
}

Connection connect_to(const std::string &address) {
  const auto until = Clock::now() + std::chrono::seconds(patience_seconds);
  for (;;) {
    const Addresses addresses = look_up(address);
    for (const addrinfo *at = addresses.get(); at; at = at->ai_next) {
      const int fd = socket(at->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
      if (fd < 0) continue;
      limit_time(fd); // a connect takes SO_SNDTIMEO for its limit too
      if (connect(fd, at->ai_addr, at->ai_addrlen) == 0) return Connection(fd, address);
      close(fd);
    }
    if (Clock::now() > until) fail(address, "nobody listens");
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
}

std::vector<Connection> accept_on(const std::string &address, int count) {
  const Addresses at = look_up(address);
  const int listener = socket(at->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int on = 1;
  if (listener >= 0) setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (listener < 0 || bind(listener, at->ai_addr, at->ai_addrlen) != 0 || listen(listener, count) != 0)
    fail_with_errno(address, "cannot listen");
  std::vector<Connection> connections;
  while (connections.size() < static_cast<std::size_t>(count)) {
    pollfd ready{listener, POLLIN, 0};
    if (poll(&ready, 1, patience_seconds * 1000) <= 0)
      fail(address, "only " + std::to_string(connections.size()) + " of " + std::to_string(count) +
                        " workers came within " + std::to_string(patience_seconds) + " s");
    const int fd = accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
    if (fd >= 0) connections.emplace_back(fd, "a connection to " + address);
  }
  close(listener);
  return connections;
}

} // namespace ps_training
