// Lines over a Unix socket, many connections, one thread. A peer that sends a line of more than 500 bytes or does not
// read is sent away.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace harmony {

class LineServer {
public:
  explicit LineServer(const std::string &path); // throws std::runtime_error
  ~LineServer();
  LineServer(const LineServer &) = delete;
  LineServer &operator=(const LineServer &) = delete;

  struct Said {
    int connection = 0;
    std::string line;
    bool closed = false; // by the peer
  };
  std::vector<Said> wait(double seconds); // what was said until then, at once if something is

  void send(int connection, const std::string &line);
  void close(int connection);

private:
  void accept_all();
  void read_from(int connection, std::vector<Said> &said);

  std::string path_;
  int listening_ = -1;
  std::map<int, std::string> open_; // what was received of the line that is not whole yet
};

} // namespace harmony
