// The files that a DatasetWriter writes, one after the other, all through the descriptor of their directory. A file
// holds whole lines, or whole lines and a last one without its end: where a line could not be written, its part is
// taken away again, or the file is left and another one begun.
//
// The file being written is locked (flock), which keeps other processes from compressing or removing it. Problems are
// one line: what failed, where, and why. For one thread.
#pragma once

#include "src/store/secure_file.h"

#include <cstdint>
#include <ctime>
#include <string>

namespace harmony {

constexpr unsigned dataset_file_mode = 0640;

// The directory of a dataset, to write to. It is made if only its last part is missing, mode 0750; it must be no link,
// be owned by root or this process' user, and others must not be able to write to it.
OpenDirectory open_dataset_directory(const std::string &path);

class DatasetFiles {
public:
  void set(const std::string &directory, std::uint64_t file_bytes);

  // The line with its newline, in a file that is new where it has to be: none is being written, this one is as large as
  // it may be, was begun on another day (UTC), or the clock was turned back.
  std::string append(const std::string &line, std::time_t now);

  // Onto the disk, what is not there yet; and a file that is no longer below the directory's path is ended.
  std::string sync();

  void end();

  std::string file() const; // being written; empty: none
  std::uint64_t size() const { return size_; }
  std::uint64_t generation() const { return generation_; } // files begun

private:
  std::string begin(std::time_t now);
  std::string create(const std::string &stem, bool &taken);
  std::string write(const std::string &line);
  bool has_to_end(std::size_t more, std::time_t now) const;
  bool is_as_we_left_it() const;

  std::string path_;
  std::uint64_t file_bytes_ = 0;
  OpenDirectory directory_;
  Descriptor file_;
  std::string stem_;       // of the file being written
  std::string newest_;     // stem of all files so far
  std::uint64_t size_ = 0; // of the file, which ends with a whole line
  std::uint64_t synced_ = 0, generation_ = 0;
  std::time_t begun_ = 0, last_ = 0;
};

} // namespace harmony
