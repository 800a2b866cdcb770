// Writing that survives a kill and a power failure: what is there afterwards is the old or the new, whole. All of it
// through the descriptor of a directory, never through a path.
//
// Each returns one line, empty if it was done.
#pragma once

#include "src/store/secure_file.h"

#include <string>

namespace harmony {

// Whatever begins like this is unfinished: readers do not see it, and the next writer takes it away.
constexpr const char *unfinished_prefix = ".new-";

// A file that must not exist yet, mode 0644, on the disk when this returns (its name is when the directory is synced).
std::string write_new_file(const OpenDirectory &directory, const std::string &name, const std::string &bytes);

// Written beside, synced, renamed over the old one, directory synced.
std::string replace_file(const OpenDirectory &directory, const std::string &name, const std::string &bytes);

std::string sync_directory(const OpenDirectory &directory);

// Takes away what writers left behind that were killed. Only while the directory is locked: then nobody is at it.
void remove_unfinished(const OpenDirectory &directory);

// A file, or a directory with nothing but files in it.
void remove_entry(const OpenDirectory &directory, const std::string &name);

// Mode 0755; a problem if it exists.
OpenDirectory make_directory_in(const OpenDirectory &parent, const std::string &name, const Trust &trust);

// `path` and what is missing above it, all on the disk; what exists is checked by `trust`.
OpenDirectory make_directories(const std::string &path, const Trust &trust);

// One writer at a time, on all hosts that share the directory. Held until it is destroyed, or its process ends.
class DirectoryLock {
public:
  std::string take(const OpenDirectory &directory);

private:
  Descriptor file_;
};

} // namespace harmony
