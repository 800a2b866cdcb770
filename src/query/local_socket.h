// Questions to the engine from the same host: one line in, one document out, over a Unix socket in the abstract
// namespace (no file to own, to clean up or to attack). The kernel says who is at the other end.
//
// The server answers one client at a time on the thread that calls serve(); a client that dawdles is dropped after a
// second.
#pragma once

#include <functional>
#include <string>
#include <sys/types.h>

namespace harmony {

constexpr std::size_t max_question = 512;
constexpr std::size_t max_answer = 16 << 20;

// The name of the socket of the slurmctld whose state is in `state_directory`.
std::string query_address(const std::string &state_directory);

class LocalServer {
public:
  LocalServer() = default;
  ~LocalServer();
  LocalServer(const LocalServer &) = delete;
  LocalServer &operator=(const LocalServer &) = delete;

  // Empty on success, else what is wrong.
  std::string open(const std::string &address);

  // Waits up to `timeout_ms` for a client and answers it.
  using Answer = std::function<std::string(uid_t asker, const std::string &question)>;
  void serve(int timeout_ms, const Answer &answer);

private:
  int socket_ = -1;
};

struct LocalAnswer {
  std::string text;
  std::string problem; // empty on success
  uid_t server = 0;    // who answered
};

// Asks, and waits up to `timeout_ms` for the whole answer.
LocalAnswer ask_local(const std::string &address, const std::string &question, int timeout_ms);

} // namespace harmony
