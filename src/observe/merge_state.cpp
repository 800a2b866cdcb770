#include "src/observe/merge_state.h"

#include <fmt/format.h>

#include <charconv>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

namespace harmony {
namespace {

constexpr std::size_t state_bytes = 512; // always written whole, so that a full disk shows at the first write
constexpr std::time_t kept_s = 7 * 24 * 3600;

template <typename Number> bool take(std::string_view &rest, Number &value) {
  const auto [end, problem] = std::from_chars(rest.data(), rest.data() + rest.size(), value);
  if (problem != std::errc() || end == rest.data() + rest.size() || *end != ' ') return false;
  rest.remove_prefix(static_cast<std::size_t>(end - rest.data()) + 1);
  return true;
}

// The directory below `base`, made if it is missing; closed if there is none that is ours alone.
Descriptor own_directory(const std::string &base, std::string &problem) {
  const std::string path = fmt::format("{}/harmony-progress-{}", base, geteuid());
  if (mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) {
    problem = fmt::format("{}: {}", path, std::strerror(errno));
    return {};
  }
  Descriptor directory(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  struct stat facts = {};
  if (!directory.is_open() || fstat(directory.get(), &facts) != 0) {
    problem = fmt::format("{}: {}", path, std::strerror(errno));
    return {};
  }
  if (facts.st_uid != geteuid() || (facts.st_mode & 07777) != 0700) {
    problem = fmt::format("{} belongs to uid {} with mode {:o}; it has to be yours alone, with mode 700", path,
                          facts.st_uid, facts.st_mode & 07777);
    return {};
  }
  return directory;
}

Descriptor own_file(const Descriptor &directory, const std::string &name, std::string &problem) {
  Descriptor file(openat(directory.get(), name.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600));
  struct stat facts = {};
  if (!file.is_open() || fstat(file.get(), &facts) != 0)
    problem = fmt::format("{}: {}", name, std::strerror(errno));
  else if (!S_ISREG(facts.st_mode) || facts.st_uid != geteuid())
    problem = name + " is not a file of this user";
  else
    return file;
  return {};
}

// What jobs left behind that ended long ago. A file that is taken from a job that still lives costs one early report.
void sweep(const Descriptor &directory) {
  DIR *list = fdopendir(fcntl(directory.get(), F_DUPFD_CLOEXEC, 3));
  if (!list) return;
  const std::time_t now = std::time(nullptr);
  while (const dirent *entry = readdir(list)) {
    struct stat facts = {};
    if (fstatat(directory.get(), entry->d_name, &facts, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(facts.st_mode) &&
        facts.st_mtime < now - kept_s)
      unlinkat(directory.get(), entry->d_name, 0);
  }
  closedir(list);
}

} // namespace

std::int64_t boot_ms() {
  timespec now = {};
  clock_gettime(CLOCK_BOOTTIME, &now);
  return std::int64_t{now.tv_sec} * 1000 + now.tv_nsec / 1000000;
}

std::string merge_state_line(const MergeState &state) {
  return fmt::format("{} {} {} {} {}\n", state.last_ms, state.put, state.done, state.failed,
                     state.latest ? claim_mark(*state.latest) : "");
}

MergeState read_merge_state(std::string_view line) {
  MergeState state;
  line = line.substr(0, line.find('\n'));
  if (!take(line, state.last_ms) || !take(line, state.put) || !take(line, state.done) || !take(line, state.failed))
    return {};
  if (line.empty()) return state;
  const ClaimField field = read_claim_field(line);
  if (!field.claim || !field.owner.empty()) return {};
  state.latest = field.claim;
  return state;
}

MergePlace MergePlace::open(const std::vector<std::string> &bases, const std::string &name) {
  MergePlace place;
  place.problem_ = "no directory to meet other processes in";
  for (const std::string &base : bases) {
    if (base.empty() || base[0] != '/') continue;
    const Descriptor directory = own_directory(base, place.problem_);
    if (!directory.is_open()) continue;
    const bool is_new = faccessat(directory.get(), name.c_str(), F_OK, AT_SYMLINK_NOFOLLOW) != 0;
    place.state_ = own_file(directory, name, place.problem_);
    place.sender_ = own_file(directory, name + ".sender", place.problem_);
    if (!place.state_.is_open() || !place.sender_.is_open()) continue;
    if (is_new) sweep(directory);
    place.problem_.clear();
    return place;
  }
  return place;
}

bool MergePlace::lock() {
  const std::int64_t end = boot_ms() + 1000;
  while (flock(state_.get(), LOCK_EX | LOCK_NB) != 0) {
    if (boot_ms() > end) return false;
    usleep(2000);
  }
  return true;
}

void MergePlace::unlock() { flock(state_.get(), LOCK_UN); }

MergeState MergePlace::read() const {
  char text[state_bytes];
  const ssize_t length = pread(state_.get(), text, sizeof text, 0);
  return read_merge_state({text, length > 0 ? static_cast<std::size_t>(length) : 0});
}

bool MergePlace::write(const MergeState &state) {
  std::string text = merge_state_line(state);
  text.resize(state_bytes, '\n');
  return pwrite(state_.get(), text.data(), text.size(), 0) == static_cast<ssize_t>(text.size());
}

bool MergePlace::become_sender() { return flock(sender_.get(), LOCK_EX | LOCK_NB) == 0; }

void MergePlace::stop_sending() { flock(sender_.get(), LOCK_UN); }

} // namespace harmony
