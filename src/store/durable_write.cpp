#include "src/store/durable_write.h"

#include "src/store/list_directory.h"

#include <fmt/format.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <thread>

namespace harmony {
namespace {

constexpr const char *lock_name = ".lock";
constexpr std::chrono::seconds lock_wait(60);

std::string failed(const char *what, const OpenDirectory &directory, const std::string &name) {
  const int error = errno;
  return fmt::format("cannot {} {}/{}: {}", what, directory.path, name, std::strerror(error));
}

bool write_all(int fd, const std::string &bytes) {
  for (std::size_t done = 0; done < bytes.size();) {
    const ssize_t n = write(fd, bytes.data() + done, bytes.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    done += static_cast<std::size_t>(n);
  }
  return true;
}

} // namespace

std::string write_new_file(const OpenDirectory &directory, const std::string &name, const std::string &bytes) {
  const Descriptor fd(
      openat(directory.fd.get(), name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!fd.is_open()) return failed("create", directory, name);
  // fchmod: whatever the umask is, SlurmUser has to read what root published
  if (!write_all(fd.get(), bytes) || fchmod(fd.get(), 0644) != 0 || fsync(fd.get()) != 0)
    return failed("write", directory, name);
  return {};
}

std::string sync_directory(const OpenDirectory &directory) {
  const Descriptor fd(openat(directory.fd.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd.is_open() || fsync(fd.get()) != 0) return failed("sync", directory, "");
  return {};
}

std::string replace_file(const OpenDirectory &directory, const std::string &name, const std::string &bytes) {
  const std::string beside = unfinished_prefix + name;
  unlinkat(directory.fd.get(), beside.c_str(), 0);
  std::string problem = write_new_file(directory, beside, bytes);
  if (problem.empty() && renameat(directory.fd.get(), beside.c_str(), directory.fd.get(), name.c_str()) != 0)
    problem = failed("replace", directory, name);
  if (!problem.empty()) {
    unlinkat(directory.fd.get(), beside.c_str(), 0);
    return problem;
  }
  return sync_directory(directory);
}

void remove_entry(const OpenDirectory &directory, const std::string &name) {
  if (unlinkat(directory.fd.get(), name.c_str(), 0) == 0) return;
  OpenDirectory inner;
  inner.fd = Descriptor(openat(directory.fd.get(), name.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!inner.fd.is_open()) return;
  for (const std::string &file : list_directory(inner).names) unlinkat(inner.fd.get(), file.c_str(), 0);
  unlinkat(directory.fd.get(), name.c_str(), AT_REMOVEDIR);
}

void remove_unfinished(const OpenDirectory &directory) {
  for (const std::string &name : list_directory(directory).names)
    if (name.rfind(unfinished_prefix, 0) == 0) remove_entry(directory, name);
}

OpenDirectory make_directory_in(const OpenDirectory &parent, const std::string &name, const Trust &trust) {
  OpenDirectory directory;
  directory.path = parent.path;
  if (mkdirat(parent.fd.get(), name.c_str(), 0755) != 0) {
    directory.problem = failed("create", parent, name);
    return directory;
  }
  directory = open_directory_in(parent, name, trust);
  if (!directory.problem.empty()) return directory;
  // By descriptor: by name, whoever may write in `parent` could have us change the modes of something else.
  const Descriptor fd(openat(directory.fd.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd.is_open() || fchmod(fd.get(), 0755) != 0) directory.problem = failed("chmod", parent, name);
  return directory;
}

OpenDirectory make_directories(const std::string &path, const Trust &trust) {
  OpenDirectory directory = open_directory(path, trust);
  const std::size_t end = path.find_last_not_of('/') + 1; // 0 if there is nothing but slashes
  if (!directory.missing || end == 0) return directory;
  const std::size_t slash = path.rfind('/', end - 1);
  const OpenDirectory parent = make_directories(path.substr(0, slash + 1), trust);
  if (!parent.problem.empty()) return {{}, parent.path, parent.problem, parent.missing};
  const std::string name = path.substr(slash + 1, end - slash - 1);
  OpenDirectory made = make_directory_in(parent, name, trust);
  if (!made.problem.empty()) {
    directory = open_directory_in(parent, name, trust); // somebody else may have made it meanwhile
    return directory.missing ? std::move(made) : std::move(directory);
  }
  made.problem = sync_directory(parent);
  return made;
}

std::string DirectoryLock::take(const OpenDirectory &directory) {
  file_ =
      Descriptor(openat(directory.fd.get(), lock_name, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600));
  if (!file_.is_open()) return failed("open", directory, lock_name);
  // Where both root and SlurmUser write, root must not lock SlurmUser out.
  struct stat owner {
  }, lock{};
  if (fstat(file_.get(), &lock) != 0 || !S_ISREG(lock.st_mode) || lock.st_nlink != 1)
    return fmt::format("{}/{} is not a file of its own; remove it", directory.path, lock_name);
  if (geteuid() == 0 && fstat(directory.fd.get(), &owner) == 0 && lock.st_uid != owner.st_uid &&
      fchown(file_.get(), owner.st_uid, owner.st_gid) != 0)
    return failed("chown", directory, lock_name);

  const auto deadline = std::chrono::steady_clock::now() + lock_wait;
  while (flock(file_.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK && errno != EINTR) return failed("lock", directory, lock_name);
    if (std::chrono::steady_clock::now() > deadline)
      return fmt::format("another process has held {}/{} for {} s; wait for it, or end it (fuser {}/{})",
                         directory.path, lock_name, lock_wait.count(), directory.path, lock_name);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return {};
}

} // namespace harmony
