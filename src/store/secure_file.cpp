#include "src/store/secure_file.h"

#include "src/values/printable.h"

#include <fmt/format.h>

#include <cerrno>
#include <climits>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <vector>

namespace harmony {
namespace {

std::string below(const std::string &directory, const std::string &name) {
  return directory == "/" ? "/" + name : directory + "/" + name;
}

std::string shown(const std::string &path) { return one_line(path, PATH_MAX); }

// Access lists need no look of their own: what they allow at most shows in the bits of the group.
std::string access_problem(const struct stat &status, const std::string &path, const Trust &trust) {
  if (trust.anybody) return {};
  if (status.st_uid != 0 && status.st_uid != trust.owner)
    return fmt::format("{} belongs to uid {}, allowed are {}; chown root {}", shown(path), status.st_uid,
                       trust.owner == 0 ? "root alone" : fmt::format("root and uid {}", trust.owner), shown(path));
  const bool group = status.st_mode & S_IWGRP, others = status.st_mode & S_IWOTH;
  if (!group && !others) return {};
  if (S_ISDIR(status.st_mode) && (status.st_mode & S_ISVTX))
    return fmt::format("{} is for everybody's files (writable, with the sticky bit); models cannot be kept below it",
                       shown(path));
  return fmt::format("{} is writable by {}; chmod {}-w {}", shown(path),
                     group && others ? "its group and by others"
                     : group         ? "its group"
                                     : "others",
                     group && others ? "go"
                     : group         ? "g"
                                     : "o",
                     shown(path));
}

// Why the open of `name` failed. O_DIRECTORY turns "a link" into "not a directory": that is told apart here, for the
// message alone.
std::string open_problem(int error, int parent, const std::string &name, const std::string &path) {
  struct stat status {};
  const bool link = (error == ENOTDIR || error == ELOOP) &&
                    fstatat(parent, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(status.st_mode);
  if (link)
    return fmt::format("{} is a symbolic link, and links are not followed; put in its place what it points to, or name "
                       "the real path",
                       shown(path));
  if (error == ENOENT) return fmt::format("{} does not exist", shown(path));
  if (error == ENOTDIR) return fmt::format("{} is not a directory", shown(path));
  return fmt::format("{} cannot be opened: {}", shown(path), std::strerror(error));
}

OpenDirectory failed(std::string path, std::string problem, bool missing = false) {
  OpenDirectory directory;
  directory.path = std::move(path);
  directory.problem = std::move(problem);
  directory.missing = missing;
  return directory;
}

OpenDirectory looked_at(Descriptor fd, std::string path, const Trust &trust) {
  struct stat status {};
  if (fstat(fd.get(), &status) != 0)
    return failed(path, fmt::format("{} cannot be looked at: {}", shown(path), std::strerror(errno)));
  if (std::string problem = access_problem(status, path, trust); !problem.empty()) return failed(path, problem);
  OpenDirectory directory;
  directory.fd = std::move(fd);
  directory.path = std::move(path);
  return directory;
}

// The names between the slashes; false if one is "..".
bool split(const std::string &path, std::vector<std::string> &names) {
  for (std::size_t at = 0; at < path.size();) {
    const std::size_t end = std::min(path.find('/', at), path.size());
    const std::string name = path.substr(at, end - at);
    at = end + 1;
    if (name == "..") return false;
    if (!name.empty() && name != ".") names.push_back(name);
  }
  return true;
}

bool same_moment(const timespec &a, const timespec &b) { return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec; }

bool unchanged(const struct stat &before, const struct stat &after) {
  return before.st_size == after.st_size && same_moment(before.st_mtim, after.st_mtim) &&
         same_moment(before.st_ctim, after.st_ctim);
}

// Up to `size` bytes: fewer if the file ends before; negative on an error.
ssize_t read_all(int fd, char *to, std::size_t size) {
  std::size_t got = 0;
  while (got < size) {
    const ssize_t n = read(fd, to + got, size - got);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return -1;
    if (n == 0) break;
    got += static_cast<std::size_t>(n);
  }
  return static_cast<ssize_t>(got);
}

std::string file_problem(const struct stat &status, const std::string &path, std::size_t most, const Trust &trust) {
  if (!S_ISREG(status.st_mode)) return fmt::format("{} is not a regular file", shown(path));
  if (std::string problem = access_problem(status, path, trust); !problem.empty()) return problem;
  if (status.st_size == 0) return fmt::format("{} is empty", shown(path));
  if (static_cast<std::uintmax_t>(status.st_size) > most)
    return fmt::format("{} has {} bytes; at most {} are read", shown(path), status.st_size, most);
  return {};
}

} // namespace

OpenDirectory open_directory(const std::string &path, const Trust &trust) {
  std::vector<std::string> names, root;
  if (path.empty() || path[0] != '/')
    return failed(path, fmt::format("\"{}\" is not an absolute path", printable(path, PATH_MAX)));
  if (path.find('\0') != std::string::npos || !split(path, names) || !split(trust.root, root))
    return failed(path, fmt::format("{} goes through \"..\" or has a NUL byte; name the real path", shown(path)));
  if (root.size() > names.size() || !std::equal(root.begin(), root.end(), names.begin()))
    return failed(path, fmt::format("{} is not below {}", shown(path), shown(trust.root)));

  Descriptor fd(open(trust.root.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!fd.is_open()) return failed(trust.root, open_problem(errno, AT_FDCWD, trust.root, trust.root), errno == ENOENT);
  OpenDirectory directory = looked_at(std::move(fd), trust.root, trust);
  for (std::size_t i = root.size(); i < names.size() && directory.problem.empty(); ++i)
    directory = open_directory_in(directory, names[i], trust);
  return directory;
}

OpenDirectory open_directory_in(const OpenDirectory &parent, const std::string &name, const Trust &trust) {
  const std::string path = below(parent.path, name);
  // O_PATH, because a directory that may be passed through need not be readable.
  const int no_links = trust.anybody ? 0 : O_NOFOLLOW;
  Descriptor fd(openat(parent.fd.get(), name.c_str(), O_PATH | O_DIRECTORY | no_links | O_CLOEXEC));
  if (fd.is_open()) return looked_at(std::move(fd), path, trust);
  const int error = errno;
  return failed(path, open_problem(error, parent.fd.get(), name, path), error == ENOENT);
}

FileReading read_file_in(const OpenDirectory &directory, const std::string &name, std::size_t most,
                         const Trust &trust) {
  FileReading reading;
  const std::string path = below(directory.path, name);
  const Descriptor fd(
      openat(directory.fd.get(), name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  if (!fd.is_open()) {
    const int error = errno;
    reading.problem = open_problem(error, directory.fd.get(), name, path);
    reading.missing = error == ENOENT;
    return reading;
  }
  struct stat before {
  }, after{};
  if (fstat(fd.get(), &before) != 0) {
    reading.problem = fmt::format("{} cannot be looked at: {}", shown(path), std::strerror(errno));
    return reading;
  }
  reading.problem = file_problem(before, path, most, trust);
  if (!reading.problem.empty()) return reading;

  const auto size = static_cast<std::size_t>(before.st_size);
  std::string bytes(size + 1, '\0'); // one more, so that a file that has grown is noticed
  const ssize_t got = read_all(fd.get(), bytes.data(), bytes.size());
  if (got < 0)
    reading.problem = fmt::format("{} cannot be read: {}", shown(path), std::strerror(errno));
  else if (static_cast<std::size_t>(got) != size || fstat(fd.get(), &after) != 0 || !unchanged(before, after))
    reading.problem = fmt::format("{} changed while it was read; try again when nobody writes it", shown(path));
  if (!reading.problem.empty()) return reading;
  bytes.resize(size);
  reading.bytes = std::move(bytes);
  return reading;
}

} // namespace harmony
