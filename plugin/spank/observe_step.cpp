#include "plugin/spank/observe_step.h"

#include "plugin/spank/arguments.h"
#include "plugin/spank/job_options.h"

extern "C" {
#include "slurm/slurm.h"
}

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

constexpr long longest_wait_ms = 2000;
constexpr uint32_t most_nodes = 65536; // that `harmony observe` takes

// The one step of this slurmstepd, as long as it is watched.
struct Observation {
  int leash = -1; // our end; the watcher has the other as its standard input
  long began_ms = 0;
  int every = 0;
  char step[32] = ""; // for messages: 17.0
};
Observation observation;

long now_ms() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

// False: a step in which nothing runs.
bool name_step(uint32_t step, char *name, size_t size) {
  if (step == SLURM_EXTERN_CONT || step == SLURM_PENDING_STEP) return false;
  if (step == SLURM_BATCH_SCRIPT)
    snprintf(name, size, "batch");
  else if (step == SLURM_INTERACTIVE_STEP)
    snprintf(name, size, "interactive");
  else
    snprintf(name, size, "%u", step);
  return true;
}

// Of the step, not of the job. srun says it, so it may be anything; a batch script's is 0.
uint32_t nodes_of_step(spank_t spank) {
  uint32_t nodes = 0;
  if (spank_get_item(spank, S_JOB_NNODES, &nodes) != ESPANK_SUCCESS || nodes < 1) return 1;
  return nodes < most_nodes ? nodes : most_nodes;
}

// In a grandchild, which init inherits: process tracking by descent from slurmstepd must not take it for one of the
// job's. slurmstepd may have threads, so nothing is called here that might need one of their locks.
bool start(const char *const *command, int leash) {
  const pid_t child = fork();
  if (child < 0) return false;
  if (child > 0) {
    while (waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
    }
    return true;
  }
  if (fork() != 0) _exit(0);
  setsid();
  if (chdir("/") != 0) _exit(126);
  const int nowhere = open("/dev/null", O_RDWR);
  dup2(leash, 0);
  dup2(nowhere, 1);
  dup2(nowhere, 2);
  closefrom(3);
  execv(HARMONY_COMMAND, const_cast<char *const *>(command));
  const char failed[] = "it is not observed, since " HARMONY_COMMAND " cannot be run";
  _exit(write(0, failed, sizeof failed - 1) < 0 ? 126 : 127);
}

// What the watcher says before it lets go; empty if it had nothing to say. False: it did not let go in time.
bool hear(int leash, char *said, size_t size) {
  size_t length = 0;
  const long until = now_ms() + longest_wait_ms;
  bool let_go = false;
  while (!let_go) {
    const long left = until - now_ms();
    pollfd end = {leash, POLLIN, 0};
    if (left <= 0) break;
    if (poll(&end, 1, static_cast<int>(left)) <= 0) continue;
    const ssize_t got = read(leash, said + length, size - 1 - length);
    if (got < 0 && errno == EINTR) continue;
    let_go = got <= 0 || length + static_cast<size_t>(got) >= size - 1;
    if (got > 0) length += static_cast<size_t>(got);
  }
  said[length] = '\0';
  return let_go;
}

} // namespace

namespace harmony {

void observe_step(spank_t spank, int count, char **words) {
  const SpankArguments arguments = read_spank_arguments(count, words); // slurmd has told of those that are wrong
  if (!arguments.observe || !(arguments.observe_all || has_job_options())) return;
  uint32_t job = 0, step = 0;
  char job_text[16], step_text[16], pid_text[16], every_text[16], nodes_text[16];
  if (spank_get_item(spank, S_JOB_ID, &job) != ESPANK_SUCCESS ||
      spank_get_item(spank, S_JOB_STEPID, &step) != ESPANK_SUCCESS || !name_step(step, step_text, sizeof step_text))
    return;
  snprintf(job_text, sizeof job_text, "%u", job);
  snprintf(pid_text, sizeof pid_text, "%d", static_cast<int>(getpid()));
  snprintf(every_text, sizeof every_text, "%d", arguments.observe_every);
  snprintf(nodes_text, sizeof nodes_text, "%u", nodes_of_step(spank));
  snprintf(observation.step, sizeof observation.step, "%s.%s", job_text, step_text);
  // slurmstepd's own environment, not the job's.
  const char *node = getenv("SLURMD_NODENAME");
  const char *command[16] = {HARMONY_COMMAND,
                             "observe",
                             "--leash",
                             "--job",
                             job_text,
                             "--step",
                             step_text,
                             "--pid",
                             pid_text,
                             "--every",
                             every_text,
                             "--nodes",
                             nodes_text,
                             node && *node ? "--node" : nullptr,
                             node};

  int ends[2];
  if (access(HARMONY_COMMAND, X_OK) != 0) {
    slurm_error("harmony: cannot run %s: %m; step %s is not observed", HARMONY_COMMAND, observation.step);
    return;
  }
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    slurm_error("harmony: no socket: %m; step %s is not observed", observation.step);
    return;
  }
  if (start(command, ends[1])) {
    observation.leash = ends[0];
    observation.began_ms = now_ms();
    observation.every = arguments.observe_every;
  } else {
    slurm_error("harmony: cannot fork: %m; step %s is not observed", observation.step);
    close(ends[0]);
  }
  close(ends[1]);
}

void end_observation() {
  const int leash = observation.leash;
  if (leash < 0) return;
  observation.leash = -1;
  shutdown(leash, SHUT_WR);
  char said[512];
  // Of a step that was shorter than one period nothing is sent, so there is nothing to wait for.
  if (now_ms() - observation.began_ms >= observation.every * 1000L) {
    if (!hear(leash, said, sizeof said))
      slurm_error("harmony: step %s: what the node saw of it is not sent within 2 s; the step ends, trying on",
                  observation.step);
    else if (said[0])
      slurm_error("harmony: step %s: %s", observation.step, said);
  }
  close(leash);
}

} // namespace harmony
