#include "tests/emulator/line_server.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <stdexcept>

#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

namespace harmony {
namespace {

constexpr std::size_t most_line = 500;

} // namespace

LineServer::LineServer(const std::string &path) : path_(path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path)
    throw std::runtime_error(fmt::format("{}: too long for a socket's path", path));
  std::copy(path.begin(), path.end(), address.sun_path);
  listening_ = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  unlink(path.c_str());
  const mode_t before = umask(077);
  const bool bound = listening_ >= 0 && bind(listening_, reinterpret_cast<sockaddr *>(&address), sizeof address) == 0;
  umask(before);
  if (!bound || listen(listening_, 256) != 0)
    throw std::runtime_error(fmt::format("{}: cannot listen there: {}", path, std::strerror(errno)));
}

LineServer::~LineServer() {
  for (const auto &each : open_) ::close(each.first);
  ::close(listening_);
  unlink(path_.c_str());
}

std::vector<LineServer::Said> LineServer::wait(double seconds) {
  std::vector<pollfd> watched{{listening_, POLLIN, 0}};
  for (const auto &each : open_) watched.push_back({each.first, POLLIN, 0});
  std::vector<Said> said;
  // Not rounded down: the last part of a wait would be spent in a busy loop.
  if (poll(watched.data(), watched.size(), static_cast<int>(std::ceil(seconds * 1000))) <= 0) return said;
  for (std::size_t i = 1; i < watched.size(); ++i)
    if (watched[i].revents != 0) read_from(watched[i].fd, said);
  if (watched[0].revents != 0) accept_all();
  return said;
}

void LineServer::accept_all() {
  for (int fd; (fd = accept4(listening_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK)) >= 0;) open_[fd];
}

void LineServer::read_from(int connection, std::vector<Said> &said) {
  char buffer[1024];
  const ssize_t got = recv(connection, buffer, sizeof buffer, 0);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
  std::string &text = open_[connection];
  if (got > 0) text.append(buffer, static_cast<std::size_t>(got));
  for (std::size_t end; (end = text.find('\n')) != std::string::npos; text.erase(0, end + 1))
    said.push_back({connection, text.substr(0, end), false});
  if (got > 0 && text.size() <= most_line) return;
  close(connection);
  said.push_back({connection, {}, true});
}

void LineServer::send(int connection, const std::string &line) {
  const std::string whole = line + "\n";
  // What is sent fits into a socket's buffer many times over; who lets it fill up does not listen any more.
  if (open_.count(connection) > 0) (void)::send(connection, whole.data(), whole.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
}

void LineServer::close(int connection) {
  if (open_.erase(connection) > 0) ::close(connection);
}

} // namespace harmony
