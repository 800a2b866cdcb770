// Compressed files, by zlib, in pieces. For one thread at a time.
#pragma once

#include <cstddef>
#include <string>

namespace harmony {

// Reads a file, compressed or not, from its beginning.
class GzipReader {
public:
  explicit GzipReader(int fd); // takes it, and closes it
  ~GzipReader();
  GzipReader(const GzipReader &) = delete;
  GzipReader &operator=(const GzipReader &) = delete;

  // How many bytes were read into `buffer`; 0: that was all. After it, see torn() and problem().
  std::size_t read(char *buffer, std::size_t size);

  bool torn() const { return torn_; }                     // it stops in the middle
  const std::string &problem() const { return problem_; } // it cannot be read, or is not what was written

private:
  void look();

  void *file_ = nullptr;
  bool torn_ = false;
  std::string problem_;
};

class GzipWriter {
public:
  explicit GzipWriter(int fd); // does not take it
  ~GzipWriter();
  GzipWriter(const GzipWriter &) = delete;
  GzipWriter &operator=(const GzipWriter &) = delete;

  bool write(const char *bytes, std::size_t size);
  bool finish(); // whether all of it could be written; errno says why not

private:
  void *file_ = nullptr;
  bool failed_ = false;
};

} // namespace harmony
