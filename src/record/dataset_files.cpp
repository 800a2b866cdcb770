#include "src/record/dataset_files.h"

#include "src/record/dataset_names.h"
#include "src/store/list_directory.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace harmony {
namespace {

constexpr mode_t directory_mode = 0750;
constexpr int most_tries = 1000; // names that others may take before us
constexpr std::time_t day = 24 * 3600;
constexpr std::time_t turned_back = 2; // seconds that a clock may go back while it is being set right

std::string failed(const char *what, const std::string &path) {
  const int error = errno;
  return fmt::format("cannot {} {}: {}", what, path, std::strerror(error));
}

int open_no_link(const std::string &path) { return open(path.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC); }

std::string problem_with_directory(const struct stat &facts, const std::string &path) {
  if (facts.st_uid != 0 && facts.st_uid != geteuid())
    return fmt::format("{} belongs to user {}, who is neither root nor the user of this process ({}): chown it", path,
                       facts.st_uid, geteuid());
  if (facts.st_mode & S_IWOTH) return fmt::format("{} can be written by others: chmod o-w it", path);
  return {};
}

bool write_all(int fd, const std::string &bytes) {
  for (std::size_t done = 0; done < bytes.size();) {
    const ssize_t n = write(fd, bytes.data() + done, bytes.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n == 0) errno = ENOSPC;
    if (n <= 0) return false;
    done += static_cast<std::size_t>(n);
  }
  return true;
}

} // namespace

OpenDirectory open_dataset_directory(const std::string &path) {
  OpenDirectory directory;
  directory.path = path;
  if (path.empty() || path[0] != '/') {
    directory.problem = fmt::format("{} is no absolute path", path);
    return directory;
  }
  directory.fd = Descriptor(open_no_link(path));
  if (!directory.fd.is_open() && errno == ENOENT) {
    if (mkdir(path.c_str(), directory_mode) != 0 && errno != EEXIST) {
      directory.problem = failed("make", path);
      return directory;
    }
    directory.fd = Descriptor(open_no_link(path));
  }
  struct stat facts {};
  if (!directory.fd.is_open() || fstat(directory.fd.get(), &facts) != 0) {
    const bool is_link =
        errno == ELOOP || (errno == ENOTDIR && lstat(path.c_str(), &facts) == 0 && S_ISLNK(facts.st_mode));
    if (is_link)
      directory.problem = fmt::format("{} is a symbolic link: name the directory itself", path);
    else
      directory.problem = failed("open", path);
    return directory;
  }
  directory.problem = problem_with_directory(facts, path);
  return directory;
}

void DatasetFiles::set(const std::string &directory, std::uint64_t file_bytes) {
  if (directory != path_) {
    end();
    newest_.clear();
  }
  path_ = directory;
  file_bytes_ = file_bytes;
}

std::string DatasetFiles::append(const std::string &line, std::time_t now) {
  if (file_.is_open() && (has_to_end(line.size(), now) || !is_as_we_left_it())) end();
  last_ = now;
  if (!file_.is_open()) {
    std::string problem = begin(now);
    if (!problem.empty()) return problem;
  }
  return write(line);
}

std::string DatasetFiles::write(const std::string &line) {
  if (write_all(file_.get(), line)) {
    size_ += line.size();
    return {};
  }
  const std::string problem = failed("write", file());
  if (ftruncate(file_.get(), static_cast<off_t>(size_)) != 0) end();
  return problem;
}

bool DatasetFiles::has_to_end(std::size_t more, std::time_t now) const {
  return (size_ > 0 && size_ + more > file_bytes_) || now / day != begun_ / day || now < last_ - turned_back;
}

// Removed, cut or written to by somebody: then what follows goes into another.
bool DatasetFiles::is_as_we_left_it() const {
  struct stat facts {};
  return fstat(file_.get(), &facts) == 0 && facts.st_nlink > 0 && static_cast<std::uint64_t>(facts.st_size) == size_;
}

std::string DatasetFiles::begin(std::time_t now) {
  directory_ = open_dataset_directory(path_);
  if (!directory_.problem.empty()) return directory_.problem;
  const DirectoryListing listing = list_directory(directory_);
  if (!listing.problem.empty()) return listing.problem;
  for (const DatasetEntry &entry : dataset_entries(listing.names))
    if (is_own_stem(entry.stem)) newest_ = std::max(newest_, entry.stem);
  for (int i = 0; i < most_tries; ++i) {
    bool taken = false;
    newest_ = next_stem(now, newest_);
    const std::string problem = create(newest_, taken);
    if (taken) continue;
    if (!problem.empty()) return problem;
    begun_ = now;
    ++generation_;
    return {};
  }
  return fmt::format("cannot find a name for a new file in {}", path_);
}

std::string DatasetFiles::create(const std::string &stem, bool &taken) {
  const std::string name = stem + std::string(plain_ending);
  const int at = directory_.fd.get();
  // O_APPEND: were the file cut by somebody, there would be a hole otherwise
  Descriptor file(openat(at, name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600));
  taken = !file.is_open() && errno == EEXIST;
  if (!file.is_open()) return failed("create", path_ + "/" + name);
  // Another process may have found it before it was locked, and taken it for one that is ended.
  struct stat facts {};
  if (flock(file.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) return taken = true, "";
  if (fstat(file.get(), &facts) != 0 || facts.st_nlink == 0) return taken = true, "";
  if (faccessat(at, (stem + std::string(packed_ending)).c_str(), F_OK, AT_SYMLINK_NOFOLLOW) == 0) {
    unlinkat(at, name.c_str(), 0);
    return taken = true, "";
  }
  if (fchmod(file.get(), dataset_file_mode) != 0) return failed("chmod", path_ + "/" + name);
  file_ = std::move(file);
  stem_ = stem;
  size_ = synced_ = 0;
  return {};
}

std::string DatasetFiles::sync() {
  if (!file_.is_open()) return {};
  struct stat ours {
  }, there{};
  const bool moved = fstat(directory_.fd.get(), &ours) != 0 || stat(path_.c_str(), &there) != 0 ||
                     ours.st_ino != there.st_ino || ours.st_dev != there.st_dev;
  std::string problem;
  if (synced_ != size_ && fdatasync(file_.get()) != 0) problem = failed("sync", file());
  synced_ = size_;
  if (moved || !problem.empty()) end();
  return problem;
}

void DatasetFiles::end() {
  file_ = Descriptor();
  stem_.clear();
  size_ = synced_ = 0;
}

std::string DatasetFiles::file() const {
  return file_.is_open() ? fmt::format("{}/{}{}", path_, stem_, plain_ending) : std::string();
}

} // namespace harmony
