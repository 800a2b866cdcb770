#include "plugin/spank/publish_at_start.h"

#include "plugin/spank/arguments.h"

extern "C" {
#include "slurm/spank.h"
}

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

constexpr const char *wait_seconds = "300"; // for a slurmctld that is not up yet

// What slurmd was called with behind -N, if it was: several slurmds may share a host.
void node_name(char *name, size_t size) {
  name[0] = '\0';
  char line[4096];
  const int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
  if (fd < 0) return;
  const ssize_t length = read(fd, line, sizeof line - 1);
  close(fd);
  if (length <= 0) return;
  line[length] = '\0';
  for (const char *word = line; word < line + length; word += strlen(word) + 1) {
    if (strncmp(word, "-N", 2) != 0) continue;
    const char *value = word[2] ? word + 2 : word + 3;
    if (value < line + length) snprintf(name, size, "%s", value);
  }
}

// In a grandchild, which init inherits: slurmd must not have to wait for it.
void publish(const harmony::SpankArguments &arguments) {
  char name[256];
  node_name(name, sizeof name);
  const char *command[12] = {HARMONY_COMMAND, "topology", "--publish", "--syslog", "--wait", wait_seconds};
  int next = 6;
  if (name[0]) {
    command[next++] = "--as";
    command[next++] = name;
  }
  if (arguments.option) {
    command[next++] = arguments.option;
    command[next++] = arguments.value;
  }
  const pid_t child = fork();
  if (child < 0) {
    slurm_error("harmony: cannot fork to publish the topology: %m");
    return;
  }
  if (child > 0) {
    while (waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
    }
    return;
  }
  if (fork() != 0) _exit(0);
  setsid();
  // Whoever started slurmd must not have to wait for us on its terminal or pipe.
  const int nowhere = open("/dev/null", O_RDWR);
  for (int fd = 0; fd < 3; ++fd) dup2(nowhere, fd);
  closefrom(3);
  execv(HARMONY_COMMAND, const_cast<char *const *>(command));
  _exit(127);
}

} // namespace

namespace harmony {

void publish_at_start(int count, char **words) {
  const SpankArguments arguments = read_spank_arguments(count, words);
  if (arguments.unknown)
    slurm_error("harmony: plugstack.conf: argument %.64s is none of xml=FILE, synthetic=PROFILE, nopublish, observe, "
                "observe=SECONDS (1 to 3600), observe=all; not publishing and not observing",
                arguments.unknown);
  if (!arguments.publish) return;
  if (access(HARMONY_COMMAND, X_OK) != 0)
    slurm_error("harmony: cannot run %s: %m; the topology is not published", HARMONY_COMMAND);
  else
    publish(arguments);
}

} // namespace harmony
