#include "src/tool/observe_command.h"

#include "plugin/client/node_extra.h"
#include "src/observe/leave_cgroup.h"
#include "src/observe/step_watch.h"
#include "src/store/descriptor.h"
#include "src/tool/send_usage.h"
#include "src/values/printable.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <syslog.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>

namespace harmony {
namespace {

using Clock = std::chrono::steady_clock;

bool is_node_name(const std::string &name) {
  return !name.empty() && name.size() <= 64 && name[0] != '.' && name[0] != '-' &&
         name.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.") ==
             std::string::npos;
}

std::string node_of(const ObserveOptions &options) {
  if (!options.node.empty()) return options.node;
  char name[256] = "";
  gethostname(name, sizeof name - 1);
  const std::string host = name;
  return node_on_host(host.substr(0, host.find('.')));
}

// What ends the watch besides the pid's own end: a signal, or the end of the leash.
class Ending {
public:
  explicit Ending(bool leash) : leash_(leash) {
    sigset_t signals;
    sigemptyset(&signals);
    for (const int signal : {SIGTERM, SIGINT, SIGHUP}) sigaddset(&signals, signal);
    // slurmstepd blocks others, which are inherited.
    sigprocmask(SIG_SETMASK, &signals, nullptr);
    signals_ = Descriptor(signalfd(-1, &signals, SFD_CLOEXEC));
  }

  // True if it came before the time.
  bool came_before(Clock::time_point time) const { return came_before(time, leash_); }

  // A signal alone, for when the leash was let go of.
  bool signal_before(Clock::time_point time) const { return came_before(time, false); }

  // Says it to slurmstepd, and lets go of it: it need not wait any longer.
  void let_go(const std::string &problem) const {
    if (!leash_) return;
    if (!problem.empty()) send(STDIN_FILENO, problem.data(), problem.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    shutdown(STDIN_FILENO, SHUT_RDWR);
  }

private:
  bool came_before(Clock::time_point time, bool or_leash) const {
    for (;;) {
      const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(time - Clock::now()).count();
      pollfd either[2] = {{signals_.get(), POLLIN, 0}, {or_leash ? STDIN_FILENO : -1, POLLIN, 0}};
      const int ready = poll(either, 2, static_cast<int>(std::clamp<long>(left + 1, 0, 3600 * 1000)));
      if (ready > 0) return true;
      if (Clock::now() >= time) return false;
    }
  }

  bool leash_;
  Descriptor signals_;
};

void complain(const ObserveOptions &options, const std::string &problem) {
  const std::string line = fmt::format("step {}.{}: {}", options.job, printable(options.step), one_line(problem));
  fmt::print(stderr, "harmony observe: {}\n", line);
  syslog(LOG_DAEMON | LOG_ERR, "harmony observe: %s", line.c_str());
}

StepUsage watch(const ObserveOptions &options, const Ending &ending, StepWatch &watched) {
  const std::chrono::seconds every(options.every);
  for (Clock::time_point next = Clock::now() + every; watched.is_there(); next += every) {
    if (ending.came_before(next)) break;
    watched.look();
  }
  watched.last_look();
  StepUsage usage = watched.sum_up();
  usage.job = options.job;
  usage.step = options.step;
  return usage;
}

// A signal means that there may be no time left, so it is sent at once then.
void wait_for_turn(const ObserveOptions &options, const Ending &ending) {
  if (longest_pause(options.nodes).count() == 0) return;
  ending.let_go("");
  ending.signal_before(Clock::now() + random_pause(options.nodes));
}

int observe(const ObserveOptions &options, const Ending &ending) {
  StepWatch watched(options.pid);
  StepUsage usage = watch(options, ending, watched);
  if (usage.seconds < options.every) return 0;
  usage.node = node_of(options);
  wait_for_turn(options, ending);
  const std::string problem = send_usage(usage, [&](const std::string &why) {
    ending.let_go(fmt::format("what the node saw of it is not sent yet: {}; trying again for a few minutes", why));
  });
  if (problem.empty()) return 0;
  const std::string line = fmt::format("what the node saw of it is not sent: {}", problem);
  ending.let_go(line);
  complain(options, line);
  return 1;
}

} // namespace

CLI::App *add_observe(CLI::App &app, ObserveOptions &options) {
  CLI::App *observe = app.add_subcommand("observe", "Watch a step on its node; started by harmony_spank.so")->group("");
  observe->add_option("--job", options.job, "The job's id")->required()->check(CLI::Range(1U, 0xfffffff0U));
  observe->add_option("--step", options.step, "The step's id, or batch or interactive")
      ->required()
      ->check([](const std::string &text) { return is_step_name(text) ? "" : "not the name of a step"; });
  observe->add_option("--pid", options.pid, "The step's slurmstepd")->required()->check(CLI::Range(2, 1 << 30));
  observe->add_option("--every", options.every, "Seconds between two looks")->check(CLI::Range(1, 3600));
  observe->add_option("--nodes", options.nodes, "How many nodes the step has; those of a large one take turns to send")
      ->check(CLI::Range(1U, 65536U));
  observe->add_option("--node", options.node, "Its name in slurm.conf; this host's by default")
      ->check([](const std::string &text) { return is_node_name(text) ? "" : "not the name of a node"; });
  observe->add_flag("--leash", options.leash, "Standard input tells of the step's end, and is told of problems");
  return observe;
}

void run_observe(const ObserveOptions &options) {
  int code = 1;
  leave_job_cgroups();
  setpriority(PRIO_PROCESS, 0, 19);
  const Ending ending(options.leash);
  try {
    code = observe(options, ending);
  } catch (const std::exception &problem) {
    complain(options, problem.what());
  }
  std::fflush(nullptr);
  _exit(code);
}

} // namespace harmony
