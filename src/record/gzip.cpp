#include "src/record/gzip.h"

#include <zlib.h>

#include <cerrno>
#include <cstring>
#include <unistd.h>

namespace harmony {
namespace {

constexpr unsigned buffer_size = 128 << 10;
constexpr unsigned read_size = 16 << 10; // small, since of a damaged file zlib keeps back what it holds

gzFile file_of(void *file) { return static_cast<gzFile>(file); }

} // namespace

GzipReader::GzipReader(int fd) : file_(gzdopen(fd, "rb")) {
  if (!file_) {
    close(fd);
    problem_ = "there is no memory to read it";
    return;
  }
  gzbuffer(file_of(file_), read_size);
}

GzipReader::~GzipReader() {
  if (file_) gzclose_r(file_of(file_));
}

std::size_t GzipReader::read(char *buffer, std::size_t size) {
  if (!file_) return 0;
  const int got = gzread(file_of(file_), buffer, static_cast<unsigned>(size));
  if (got > 0) return static_cast<std::size_t>(got);
  look();
  return 0;
}

void GzipReader::look() {
  const int error = errno;
  int code = Z_OK;
  const std::string told = gzerror(file_of(file_), &code);
  if (code == Z_BUF_ERROR)
    torn_ = true;
  else if (code == Z_ERRNO)
    problem_ = std::strerror(error);
  else if (code != Z_OK && code != Z_STREAM_END)
    problem_ = told.substr(told.rfind(": ") == std::string::npos ? 0 : told.rfind(": ") + 2); // behind "<fd:4>: "
}

GzipWriter::GzipWriter(int fd) {
  const int own = dup(fd);
  file_ = own < 0 ? nullptr : gzdopen(own, "wb6");
  if (!file_ && own >= 0) close(own);
  failed_ = !file_;
  if (file_) gzbuffer(file_of(file_), buffer_size);
}

GzipWriter::~GzipWriter() {
  if (file_) gzclose_w(file_of(file_));
}

bool GzipWriter::write(const char *bytes, std::size_t size) {
  if (!failed_) failed_ = gzwrite(file_of(file_), bytes, static_cast<unsigned>(size)) != static_cast<int>(size);
  return !failed_;
}

bool GzipWriter::finish() {
  if (file_ && gzclose_w(file_of(file_)) != Z_OK) failed_ = true;
  file_ = nullptr;
  return !failed_;
}

} // namespace harmony
