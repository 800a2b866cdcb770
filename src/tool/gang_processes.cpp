#include "src/tool/gang_processes.h"

#include <fmt/format.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <sstream>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

namespace harmony {
namespace {

using Clock = std::chrono::steady_clock;

// What a role that is to end gets, one after another, with this time in between: SIGTERM to its tasks; SIGTERM to its
// srun, which kills the tasks; SIGKILL to its srun.
constexpr std::chrono::seconds patience{10};

struct Running {
  GangStep step;
  pid_t pid = -1;
  int messages = -1;     // srun's stderr
  std::string line;      // of it, so far
  int first_failure = 0; // that srun reported
  bool done = false;
  int endings = 0; // how often it was told to end
  Clock::time_point next_ending;
};

sigset_t our_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (int signal : {SIGCHLD, SIGTERM, SIGINT, SIGUSR1, SIGUSR2, SIGCONT}) sigaddset(&set, signal);
  return set;
}

[[noreturn]] void become(const std::vector<std::string> &arguments, int failure_pipe) {
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  std::vector<char *> words;
  for (const std::string &argument : arguments) words.push_back(const_cast<char *>(argument.c_str()));
  words.push_back(nullptr);
  execvp(words[0], words.data());
  const int error = errno;
  if (write(failure_pipe, &error, sizeof error) < 0) _exit(126);
  _exit(127);
}

// In srun's process. A terminal's signals come to us alone, and are passed on once; srun must not outlive us.
void prepare_srun(pid_t parent) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() != parent) _exit(1);
  std::vector<std::string> names;
  for (char **entry = environ; *entry; ++entry) names.emplace_back(*entry, strcspn(*entry, "="));
  for (const std::string &name : names)
    if (misleads_srun(name)) unsetenv(name.c_str());
}

enum class Kind { srun, question, quiet_question };

// Starts a command with srun's stderr, or a question's stdout, in a pipe; what went wrong, or "".
std::string start(const std::vector<std::string> &arguments, Kind kind, pid_t &pid, int &reading_end) {
  int text[2], failure[2];
  if (pipe2(text, O_CLOEXEC) != 0) return "cannot make a pipe";
  if (pipe2(failure, O_CLOEXEC) != 0) {
    close(text[0]);
    close(text[1]);
    return "cannot make a pipe";
  }
  const pid_t parent = getpid();
  pid = fork();
  if (pid == 0) {
    dup2(text[1], kind == Kind::srun ? STDERR_FILENO : STDOUT_FILENO);
    if (kind == Kind::quiet_question) dup2(open("/dev/null", O_WRONLY | O_CLOEXEC), STDERR_FILENO);
    if (kind == Kind::srun) prepare_srun(parent);
    become(arguments, failure[1]);
  }
  close(text[1]);
  close(failure[1]);
  int error = pid < 0 ? errno : 0;
  if (pid > 0 && read(failure[0], &error, sizeof error) < 0) error = errno;
  close(failure[0]);
  reading_end = text[0];
  if (error == 0) return {};
  if (pid > 0) waitpid(pid, nullptr, 0);
  close(text[0]);
  pid = reading_end = -1;
  return fmt::format("cannot start {}: {}", arguments[0], strerror(error));
}

int code_of(int status) { return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status); }

class Gang {
public:
  explicit Gang(unsigned long job_id) : job_id_(job_id) {}

  int run(const std::vector<GangStep> &steps) {
    const sigset_t signals = our_signals();
    sigprocmask(SIG_BLOCK, &signals, nullptr);
    signals_ = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
    for (const GangStep &step : steps) {
      Running role;
      role.step = step;
      const std::string problem = start(step.srun.arguments, Kind::srun, role.pid, role.messages);
      if (!problem.empty()) {
        fmt::print(stderr, "harmony run: {}\n", problem);
        fail(1);
        break;
      }
      fcntl(role.messages, F_SETFL, O_NONBLOCK);
      roles_.push_back(role);
    }
    if (code_) end_others(nullptr);
    while (any_running()) wait_for_something();
    close(signals_);
    return code_.value_or(0);
  }

private:
  bool any_running() const {
    for (const Running &role : roles_)
      if (!role.done) return true;
    return false;
  }

  void fail(int code) {
    if (!code_) code_ = code;
  }

  void wait_for_something() {
    std::vector<pollfd> fds{{signals_, POLLIN, 0}};
    int timeout = -1;
    for (const Running &role : roles_) {
      fds.push_back({role.messages, POLLIN, 0}); // poll passes over a closed one, which is -1
      if (role.done || role.endings == 0) continue;
      const auto left =
          std::chrono::duration_cast<std::chrono::milliseconds>(role.next_ending - Clock::now()).count() + 1;
      const int milliseconds = left < 0 ? 0 : static_cast<int>(left);
      timeout = timeout < 0 ? milliseconds : std::min(timeout, milliseconds);
    }
    poll(fds.data(), fds.size(), timeout);
    for (Running &role : roles_) pass_messages(role);
    signalfd_siginfo signal;
    while (read(signals_, &signal, sizeof signal) == static_cast<ssize_t>(sizeof signal))
      if (signal.ssi_signo != SIGCHLD) pass_on(static_cast<int>(signal.ssi_signo));
    for (Running &role : roles_) reap(role);
    for (Running &role : roles_)
      if (!role.done && role.endings > 0 && Clock::now() >= role.next_ending) end(role);
  }

  void pass_messages(Running &role) {
    char text[4096];
    ssize_t length = -1;
    while (role.messages >= 0 && (length = read(role.messages, text, sizeof text)) > 0) {
      if (role.endings == 0) print(text, static_cast<std::size_t>(length));
      for (ssize_t i = 0; i < length; ++i) read_message(role, text[i]);
    }
    if (length == 0) {
      if (!role.line.empty()) read_message(role, '\n');
      close(role.messages);
      role.messages = -1;
    }
  }

  static void print(const char *text, std::size_t length) {
    for (ssize_t now; length > 0 && (now = write(STDERR_FILENO, text, length)) > 0;) {
      text += now;
      length -= static_cast<std::size_t>(now);
    }
  }

  // Of a role that we end, Slurm's own words are left out: they would tell of errors where there are none.
  void read_message(Running &role, char letter) {
    role.line += letter;
    if (letter != '\n' && role.line.size() < 1000) return;
    const bool from_slurm = role.line.rfind("srun: ", 0) == 0 || role.line.rfind("slurmstepd", 0) == 0;
    if (role.endings > 0 && !from_slurm) print(role.line.data(), role.line.size());
    if (role.first_failure == 0) role.first_failure = reported_failure(role.line);
    role.line.clear();
  }

  void reap(Running &role) {
    int status = 0;
    if (role.done || waitpid(role.pid, &status, WNOHANG) != role.pid) return;
    role.done = true;
    pass_messages(role);
    if (role.endings > 0) return; // it did what it was told
    int code = code_of(status);
    if (code != 0 && role.first_failure != 0) code = role.first_failure;
    if (code != 0) fail(code);
    // Every task got the signal that was passed on; those that take their time with it, to save their work, shall have
    // it.
    if (passed_on_ != 0 && code == 128 + passed_on_) return;
    // PS usually wait for ever: the workers' end is the gang's. A PS that ends well ends for itself.
    if (code != 0 || role.step.role == Role::worker) end_others(&role);
  }

  void end_others(const Running *role) {
    for (Running &other : roles_)
      if (&other != role && !other.done && other.endings == 0) end(other);
  }

  void end(Running &role) {
    if (role.endings == 0) role.line.clear(); // printed already
    role.next_ending = Clock::now() + patience;
    switch (role.endings++) {
    case 0:
      if (signal_tasks(role, SIGTERM)) break;
      [[fallthrough]];
    case 1: kill(role.pid, SIGTERM); break;
    default: kill(role.pid, SIGKILL);
    }
  }

  void pass_on(int signal) {
    if (signal == SIGTERM || signal == SIGINT) passed_on_ = signal;
    for (Running &role : roles_)
      if (!role.done && !((signal == SIGTERM || signal == SIGINT) && signal_tasks(role, signal)))
        kill(role.pid, signal);
  }

  // srun passes most signals on by itself, but on SIGTERM it kills its tasks, and at SIGINT too; so those are sent
  // around it. False if the step is not there (yet).
  bool signal_tasks(const Running &role, int signal) {
    const auto steps = output_of(
        {"squeue", "--noheader", "--steps", "--jobs=" + std::to_string(job_id_), "--format=%i %j", "--local"});
    std::istringstream lines(steps.value_or(""));
    for (std::string id, name; lines >> id && std::getline(lines >> std::ws, name);)
      if (name == role.step.srun.name) {
        output_of({"scancel", "--signal=" + std::to_string(signal), id}, true);
        return true;
      }
    return false;
  }

  unsigned long job_id_;
  int signals_ = -1;
  int passed_on_ = 0; // the last signal that ends tasks
  std::vector<Running> roles_;
  std::optional<int> code_;
};

} // namespace

int run_steps(unsigned long job_id, const std::vector<GangStep> &steps) { return Gang(job_id).run(steps); }

std::optional<std::string> output_of(const std::vector<std::string> &arguments, bool quiet) {
  pid_t pid = -1;
  int reading_end = -1;
  if (!start(arguments, quiet ? Kind::quiet_question : Kind::question, pid, reading_end).empty()) return {};
  std::string output;
  char text[4096];
  for (ssize_t length; (length = read(reading_end, text, sizeof text)) > 0 || (length < 0 && errno == EINTR);)
    if (length > 0) output.append(text, static_cast<std::size_t>(length));
  close(reading_end);
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (code_of(status) != 0) return {};
  return output;
}

} // namespace harmony
