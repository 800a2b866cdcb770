#include "plugin/slurm_version.h"

#include "plugin/client/node_extra.h"

#include "src/store/descriptor.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <thread>
#include <utility>

namespace harmony {
namespace {

constexpr std::chrono::milliseconds look_at_lock(20), longest_wait(20000);

NodeExtra failed(const std::string &node) {
  NodeExtra result;
  const int code = errno;
  result.problem = "node " + node + ": " + slurm_strerror(code);
  result.try_again = code == SLURM_COMMUNICATIONS_CONNECTION_ERROR || code == SLURM_COMMUNICATIONS_SEND_ERROR ||
                     code == SLURM_COMMUNICATIONS_RECEIVE_ERROR || code == SLURM_PROTOCOL_SOCKET_IMPL_TIMEOUT ||
                     code == ESLURM_IN_STANDBY_MODE || code == SLURMCTLD_COMMUNICATIONS_CONNECTION_ERROR ||
                     code == SLURMCTLD_COMMUNICATIONS_SEND_ERROR || code == SLURMCTLD_COMMUNICATIONS_RECEIVE_ERROR;
  return result;
}

// In a directory where nobody else may put a file of that name first; without root there is none that is sure, and a
// file of somebody else's is not used. Empty: the name is none of a file's.
std::string lock_path(const std::string &node) {
  if (node.find('/') != std::string::npos) return {};
  return (geteuid() == 0 ? "/run/" : "/run/lock/") + ("slurm-harmony-" + node + ".lock");
}

Descriptor open_lock(const std::string &path) {
  Descriptor file(open(path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
  struct stat facts {};
  if (!file.is_open() || fstat(file.get(), &facts) != 0 || !S_ISREG(facts.st_mode) || facts.st_uid != geteuid())
    return {};
  return file;
}

// Held as long as it lives. Rather without it than never: the worst is that another's change is lost.
class FieldLock {
public:
  explicit FieldLock(const std::string &node) : path_(lock_path(node)) {
    const auto until = std::chrono::steady_clock::now() + longest_wait;
    while (!path_.empty() && !held_.is_open() && std::chrono::steady_clock::now() < until) {
      Descriptor file = open_lock(path_);
      if (!file.is_open()) return;
      if (flock(file.get(), LOCK_EX | LOCK_NB) != 0)
        std::this_thread::sleep_for(look_at_lock);
      else if (is_at_path(file))
        held_ = std::move(file);
    }
  }
  // Removed while it is held, so that nobody can hold what is at the path by then.
  ~FieldLock() {
    if (held_.is_open()) unlink(path_.c_str());
  }
  FieldLock(const FieldLock &) = delete;
  FieldLock &operator=(const FieldLock &) = delete;

private:
  // False: whoever had the lock before has removed the file since we opened it.
  bool is_at_path(const Descriptor &file) const {
    struct stat ours {
    }, there{};
    return fstat(file.get(), &ours) == 0 && lstat(path_.c_str(), &there) == 0 && ours.st_dev == there.st_dev &&
           ours.st_ino == there.st_ino;
  }

  std::string path_;
  Descriptor held_;
};

NodeExtra write_node_extra(const std::string &node, const std::string &extra) {
  slurm_init(nullptr);
  std::string name = node, value = extra;
  update_node_msg_t update;
  slurm_init_update_node_msg(&update);
  update.node_names = name.data();
  update.extra = value.data();
  if (slurm_update_node(&update) != SLURM_SUCCESS) return failed(node);
  NodeExtra result;
  result.extra = extra;
  return result;
}

} // namespace

std::string node_on_host(const std::string &host) {
  slurm_init(nullptr);
  char *name = slurm_conf_get_nodename(host.c_str());
  const std::string node = name ? name : host;
  xfree(name);
  return node;
}

NodeExtra read_node_extra(const std::string &node) {
  slurm_init(nullptr);
  std::string name = node; // the API takes a char *
  node_info_msg_t *message = nullptr;
  if (slurm_load_node_single(&message, name.data(), SHOW_ALL) != SLURM_SUCCESS) return failed(node);
  NodeExtra result;
  if (message->record_count < 1 || !message->node_array[0].name)
    result.problem = "node " + node + ": slurmctld has no node of that name";
  else if (message->node_array[0].extra)
    result.extra = message->node_array[0].extra;
  slurm_free_node_info_msg(message);
  return result;
}

NodeExtra change_node_extra(const std::string &node, const std::function<std::string(std::string_view extra)> &change) {
  const FieldLock locked(node);
  const NodeExtra before = read_node_extra(node);
  if (!before.problem.empty()) return before;
  const std::string after = change(before.extra);
  return after == before.extra ? before : write_node_extra(node, after);
}

} // namespace harmony
