#include "src/tool/send_usage.h"

#include "plugin/client/node_extra.h"
#include "src/store/descriptor.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <thread>

namespace harmony {
namespace {

constexpr int tries = 6;
constexpr std::chrono::seconds first_pause(2); // doubled each time
constexpr std::chrono::milliseconds look_at_lock(20), longest_wait(20000);

// In a directory where nobody else may put a file of that name first; without root there is none that is sure, and a
// file of somebody else's is not used.
Descriptor open_lock(const std::string &node) {
  const std::string path = (geteuid() == 0 ? "/run/" : "/run/lock/") + ("slurm-harmony-" + node + ".lock");
  Descriptor file(open(path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
  struct stat facts {};
  if (!file.is_open() || fstat(file.get(), &facts) != 0 || !S_ISREG(facts.st_mode) || facts.st_uid != geteuid())
    return {};
  return file;
}

// Held until it is closed. Rather without it than never: the worst is that a mark of another step is lost.
Descriptor lock(const std::string &node) {
  Descriptor file = open_lock(node);
  const auto until = std::chrono::steady_clock::now() + longest_wait;
  while (file.is_open() && flock(file.get(), LOCK_EX | LOCK_NB) != 0 && std::chrono::steady_clock::now() < until)
    std::this_thread::sleep_for(look_at_lock);
  return file;
}

NodeExtra send_once(const StepUsage &usage) {
  const Descriptor locked = lock(usage.node);
  const NodeExtra before = read_node_extra(usage.node);
  return before.problem.empty() ? write_node_extra(usage.node, with_usage(before.extra, usage)) : before;
}

} // namespace

std::string send_usage(const StepUsage &usage, const std::function<void(const std::string &problem)> &not_yet) {
  NodeExtra answer = send_once(usage);
  auto pause = first_pause;
  for (int i = 1; i < tries && answer.try_again; ++i, pause *= 2) {
    if (i == 1) not_yet(answer.problem);
    std::this_thread::sleep_for(pause);
    answer = send_once(usage);
  }
  return answer.problem;
}

} // namespace harmony
