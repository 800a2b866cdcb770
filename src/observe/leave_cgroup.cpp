#include "src/observe/leave_cgroup.h"

#include <algorithm>
#include <fstream>
#include <sstream>
#include <unistd.h>

namespace harmony {
namespace {

// …/job_17/…, as both of Slurm's cgroup plugins name it.
bool is_of_job(std::string_view path) {
  const std::size_t at = path.find("/job_");
  return at != std::string_view::npos && at + 5 < path.size() && path[at + 5] >= '0' && path[at + 5] <= '9';
}

} // namespace

std::vector<std::string> ways_out_of_job(std::string_view text) {
  std::vector<std::string> ways;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    const std::size_t first = line.find(':');
    const std::size_t second = first == std::string_view::npos ? first : line.find(':', first + 1);
    if (second == std::string_view::npos || !is_of_job(line.substr(second + 1))) continue;
    std::string controllers(line.substr(first + 1, second - first - 1));
    if (controllers.rfind("name=", 0) == 0) controllers.erase(0, 5);
    if (controllers.find('/') != std::string::npos) continue;
    if (!controllers.empty()) {
      ways.push_back("/sys/fs/cgroup/" + controllers + "/cgroup.procs");
    } else { // version 2, alone or beside version 1
      ways.push_back("/sys/fs/cgroup/cgroup.procs");
      ways.push_back("/sys/fs/cgroup/unified/cgroup.procs");
    }
  }
  return ways;
}

void leave_job_cgroups() {
  std::ifstream file("/proc/self/cgroup");
  std::ostringstream text;
  text << file.rdbuf();
  for (const std::string &way : ways_out_of_job(text.str())) {
    // Opened for reading as well, so that it is not made where it is not: beside version 1 the first of the two ways is
    // a plain directory.
    std::fstream procs(way, std::ios::in | std::ios::out);
    procs << getpid() << std::flush;
  }
}

} // namespace harmony
