// A file descriptor that closes itself.
#pragma once

#include <unistd.h>
#include <utility>

namespace harmony {

class Descriptor {
public:
  Descriptor() = default;
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() { reset(); }
  Descriptor(Descriptor &&other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor &operator=(Descriptor &&other) noexcept {
    if (this != &other) {
      reset();
      fd_ = std::exchange(other.fd_, -1);
    }
    return *this;
  }

  int get() const { return fd_; }
  bool is_open() const { return fd_ >= 0; }

private:
  void reset() {
    if (fd_ >= 0) close(fd_);
  }

  int fd_ = -1;
};

} // namespace harmony
