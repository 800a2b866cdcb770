#include "src/record/dataset_upkeep.h"

#include "src/record/dataset_files.h"
#include "src/record/dataset_names.h"
#include "src/record/gzip.h"
#include "src/store/list_directory.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace harmony {
namespace {

constexpr std::size_t piece = 64 << 10;

std::string plain_name(const std::string &stem) { return stem + std::string(plain_ending); }
std::string packed_name(const std::string &stem) { return stem + std::string(packed_ending); }
std::string unfinished_name(const std::string &stem) { return "." + packed_name(stem); }

class Keeper {
public:
  Keeper(const OpenDirectory &directory, const std::atomic<bool> &stop)
      : directory_(directory), at_(directory.fd.get()), stop_(stop) {}

  UpkeepResult keep(std::uint64_t most_bytes) {
    const std::vector<DatasetEntry> before = entries();
    for (const DatasetEntry &entry : before)
      if (entry.plain && !stop_) pack(entry.stem);
    remove_oldest(entries(), stop_ ? UINT64_MAX : most_bytes); // there may be room once the rest is compressed
    return result_;
  }

private:
  void problem(const char *what, const std::string &name) {
    const int error = errno;
    if (result_.problem.empty())
      result_.problem = fmt::format("cannot {} {}/{}: {}", what, directory_.path, name, std::strerror(error));
  }

  // Of our own files; and takes away what a compression left behind that was killed.
  std::vector<DatasetEntry> entries() {
    const DirectoryListing listing = list_directory(directory_);
    if (!listing.problem.empty() && result_.problem.empty()) result_.problem = listing.problem;
    std::vector<DatasetEntry> all = dataset_entries(listing.names);
    all.erase(std::remove_if(all.begin(), all.end(), [](const auto &entry) { return !is_own_stem(entry.stem); }),
              all.end());
    const auto has_plain = [&all](const std::string &stem) {
      return std::any_of(all.begin(), all.end(), [&](const auto &entry) { return entry.plain && entry.stem == stem; });
    };
    for (const std::string &name : listing.names) {
      const std::string stem = name[0] == '.' ? dataset_stem(name.substr(1)) : std::string();
      if (is_own_stem(stem) && name == unfinished_name(stem) && !has_plain(stem)) unlinkat(at_, name.c_str(), 0);
    }
    return all;
  }

  // Not open if it is no longer there, or is being written.
  Descriptor locked(const std::string &name) {
    Descriptor file(openat(at_, name.c_str(), O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    if (!file.is_open()) {
      if (errno != ENOENT) problem("open", name);
      return {};
    }
    struct stat facts {};
    if (flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
      if (errno != EWOULDBLOCK) problem("lock", name);
      return {};
    }
    if (fstat(file.get(), &facts) != 0 || !S_ISREG(facts.st_mode) || facts.st_nlink == 0) return {};
    return file;
  }

  void pack(const std::string &stem) {
    const Descriptor plain = locked(plain_name(stem));
    struct stat facts {};
    if (!plain.is_open() || fstat(plain.get(), &facts) != 0) return;
    if (facts.st_size > 0 && !pack_to(stem, plain.get())) return;
    if (unlinkat(at_, plain_name(stem).c_str(), 0) != 0) problem("remove", plain_name(stem));
  }

  // True once the packed file is there for good.
  bool pack_to(const std::string &stem, int plain) {
    const std::string unfinished = unfinished_name(stem);
    unlinkat(at_, unfinished.c_str(), 0); // of one that was killed
    const Descriptor packed(
        openat(at_, unfinished.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (!packed.is_open()) return problem("create", unfinished), false;
    if (copy(plain, packed.get(), unfinished) && name_it(packed.get(), stem)) return true;
    unlinkat(at_, unfinished.c_str(), 0);
    return false;
  }

  bool copy(int plain, int packed, const std::string &name) {
    GzipWriter writer(packed);
    std::string buffer(piece, '\0');
    for (;;) {
      if (stop_) return false;
      const ssize_t got = read(plain, buffer.data(), buffer.size());
      if (got < 0) return problem("read what is to become", name), false;
      if (got == 0) break;
      if (!writer.write(buffer.data(), static_cast<std::size_t>(got))) return problem("write", name), false;
    }
    return writer.finish() || (problem("write", name), false);
  }

  bool name_it(int packed, const std::string &stem) {
    const std::string unfinished = unfinished_name(stem), name = packed_name(stem);
    if (fchmod(packed, dataset_file_mode) != 0 || fsync(packed) != 0) return problem("sync", unfinished), false;
    if (renameat(at_, unfinished.c_str(), at_, name.c_str()) != 0) return problem("rename", unfinished), false;
    const Descriptor self(openat(at_, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!self.is_open() || fsync(self.get()) != 0) return problem("sync", ""), false; // both stay for now
    return true;
  }

  void remove_oldest(const std::vector<DatasetEntry> &all, std::uint64_t most_bytes) {
    struct File {
      std::string name;
      bool plain;
      std::uint64_t bytes;
    };
    std::vector<File> files; // oldest first
    const auto add = [&](const std::string &name, bool plain) {
      struct stat facts {};
      if (fstatat(at_, name.c_str(), &facts, AT_SYMLINK_NOFOLLOW) != 0 || (plain && !locked(name).is_open())) return;
      files.push_back({name, plain, static_cast<std::uint64_t>(facts.st_size)});
      result_.bytes += files.back().bytes;
    };
    for (const DatasetEntry &entry : all) {
      if (entry.packed) add(packed_name(entry.stem), false);
      if (entry.plain) add(plain_name(entry.stem), true);
    }
    result_.files = files.size();
    for (const File &file : files) {
      if (result_.bytes <= most_bytes) break;
      const Descriptor lock = file.plain ? locked(file.name) : Descriptor();
      if (file.plain && !lock.is_open()) continue;
      if (unlinkat(at_, file.name.c_str(), 0) != 0 && errno != ENOENT) {
        problem("remove", file.name);
        continue;
      }
      result_.bytes -= file.bytes;
      --result_.files;
    }
  }

  const OpenDirectory &directory_;
  const int at_;
  const std::atomic<bool> &stop_;
  UpkeepResult result_;
};

} // namespace

UpkeepResult keep_dataset(const OpenDirectory &directory, std::uint64_t most_bytes, const std::atomic<bool> &stop) {
  return Keeper(directory, stop).keep(most_bytes);
}

} // namespace harmony
