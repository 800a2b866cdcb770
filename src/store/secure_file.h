// Reading what slurmctld is going to load: only what nobody but root and SlurmUser can have written. Each directory on
// the way is opened from the one above it, without following links, and is looked at after it was opened, so that
// nothing can be exchanged between the look and the use. Files are read once, into memory.
//
// Problems are one line: what is wrong with which path, and how to mend it. Nothing here throws but std::bad_alloc.
// May be called from any thread.
#pragma once

#include "src/store/descriptor.h"

#include <cstddef>
#include <string>
#include <sys/types.h>

namespace harmony {

struct Trust {
  uid_t owner = 0;        // besides root: SlurmUser
  std::string root = "/"; // where the walk begins; what is above is not looked at. For tests below /tmp, nothing else
  bool anybody = false;   // owners, modes and links on the way do not matter: for what is copied, not loaded
};

struct OpenDirectory {
  Descriptor fd;    // O_PATH: reopen "." to list it
  std::string path; // for messages
  std::string problem;
  bool missing = false; // the problem is that it, or a directory above it, does not exist
};

struct FileReading {
  std::string bytes;
  std::string problem;
  bool missing = false;
};

// Every directory from trust.root to `path`, these two included: no link, owned by root or trust.owner, writable by
// neither group nor others, sticky or not. `path` is absolute and without "..".
OpenDirectory open_directory(const std::string &path, const Trust &trust);
OpenDirectory open_directory_in(const OpenDirectory &parent, const std::string &name, const Trust &trust);

// The whole of a regular file of 1 to `most` bytes that did not change while it was read; the same rule for owner and
// modes. Never waits for the other end of a FIFO.
FileReading read_file_in(const OpenDirectory &directory, const std::string &name, std::size_t most, const Trust &trust);

} // namespace harmony
