#include "src/observe/detach.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <dirent.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace harmony {
namespace {

// All that the caller's caller left open, sockets and pipes of a training program among it: somebody may be waiting for
// their end.
void close_all_but(const std::vector<int> &keep) {
  std::vector<int> open;
  if (DIR *list = opendir("/proc/self/fd")) {
    while (const dirent *entry = readdir(list))
      if (const int fd = std::atoi(entry->d_name); fd > 2 && fd != dirfd(list)) open.push_back(fd);
    closedir(list);
  } else {
    for (int fd = 3; fd < 1024; ++fd) open.push_back(fd);
  }
  for (const int fd : open)
    if (std::find(keep.begin(), keep.end(), fd) == keep.end()) close(fd);
  const int nothing = ::open("/dev/null", O_RDWR);
  for (int fd = 0; fd < 3; ++fd)
    if (nothing < 0)
      close(fd);
    else
      dup2(nothing, fd);
  if (nothing > 2) close(nothing);
}

[[noreturn]] void be_detached(const std::vector<int> &keep, const std::function<void()> &work) {
  try {
    close_all_but(keep);
    if (chdir("/") == 0) work();
  } catch (...) { // nobody is there to be told
  }
  _exit(0);
}

} // namespace

bool detach(const std::vector<int> &keep, const std::function<void()> &work) {
  const pid_t between = fork();
  if (between < 0) return false;
  if (between == 0) {
    setsid();
    const pid_t child = fork(); // no leader of its session: it can never get a terminal
    if (child == 0) be_detached(keep, work);
    _exit(child < 0);
  }
  int status = 0;
  while (waitpid(between, &status, 0) < 0)
    if (errno != EINTR) return true; // SIGCHLD is ignored, and nobody can say
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

} // namespace harmony
