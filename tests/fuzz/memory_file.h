// An input of the fuzzer as a file, for readers that take a path.
#pragma once

#include <cstdlib>
#include <string>
#include <sys/mman.h>
#include <unistd.h>

namespace harmony {

class MemoryFile {
public:
  MemoryFile(const unsigned char *data, std::size_t size) : fd_(memfd_create("fuzz", 0)) {
    if (fd_ < 0 || write(fd_, data, size) != static_cast<ssize_t>(size)) std::abort();
  }
  ~MemoryFile() { close(fd_); }
  MemoryFile(const MemoryFile &) = delete;
  MemoryFile &operator=(const MemoryFile &) = delete;

  std::string path() const { return "/proc/self/fd/" + std::to_string(fd_); }

private:
  int fd_;
};

// Whether a problem names the file and can be printed.
inline bool fit_for_people(const std::string &problem, const MemoryFile &file) {
  for (const char c : problem)
    if (c < ' ' || c > '~') return false;
  return problem.size() < 2048 && problem.rfind(file.path() + ":", 0) == 0;
}

} // namespace harmony
