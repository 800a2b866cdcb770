#include "src/store/list_directory.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <memory>

namespace harmony {

DirectoryListing list_directory(const OpenDirectory &directory) {
  DirectoryListing listing;
  const int fd = openat(directory.fd.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR *const stream = fd < 0 ? nullptr : fdopendir(fd);
  if (!stream) {
    listing.problem = fmt::format("{} cannot be listed: {}", directory.path, std::strerror(errno));
    if (fd >= 0) close(fd);
    return listing;
  }
  const std::unique_ptr<DIR, int (*)(DIR *)> closer(stream, closedir);
  while (const dirent *entry = readdir(stream)) {
    const std::string name = entry->d_name;
    if (name != "." && name != "..") listing.names.push_back(name);
  }
  std::sort(listing.names.begin(), listing.names.end());
  return listing;
}

} // namespace harmony
