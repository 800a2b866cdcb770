#include "tests/emulator/task.h"

#include "src/sim/input/line_reader.h"
#include "tests/emulator/task_hello.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

#include <fcntl.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

extern char **environ;

namespace harmony {
namespace {

std::string variable(const char *name) {
  const char *value = std::getenv(name);
  return value ? value : "";
}

int number_in_environment(const char *name, int otherwise) {
  const std::string text = variable(name);
  if (text.empty() && otherwise >= 0) return otherwise;
  const auto number = whole_in(text, 0, 1 << 30);
  if (!number) throw std::runtime_error(fmt::format("{}=\"{}\" is no number; run it by srun", name, text));
  return static_cast<int>(*number);
}

// What Slurm really gave it, and nothing else.
TaskHello hello_from_environment(std::uint32_t job) {
  TaskHello hello;
  hello.job = job;
  hello.slurm_job = static_cast<std::uint32_t>(number_in_environment("SLURM_JOB_ID", -1));
  hello.run = number_in_environment("SLURM_RESTART_COUNT", 0);
  hello.rank = number_in_environment("SLURM_PROCID", -1);
  hello.tasks = number_in_environment("SLURM_NTASKS", -1);
  hello.cpus = number_in_environment("SLURM_CPUS_PER_TASK", 1);
  hello.node = variable("SLURMD_NODENAME");
  const auto gpus = gpu_list(variable("SLURM_STEP_GPUS"));
  if (!gpus) throw std::runtime_error(fmt::format("SLURM_STEP_GPUS=\"{}\" is no list", variable("SLURM_STEP_GPUS")));
  hello.gpus = *gpus;
  return hello;
}

int connect_to(const std::string &path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path)
    throw std::runtime_error(fmt::format("{}: too long for a socket's path", path));
  std::copy(path.begin(), path.end(), address.sun_path);
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0 || connect(fd, reinterpret_cast<sockaddr *>(&address), sizeof address) != 0)
    throw std::runtime_error(fmt::format("{}: nobody answers there: {}", path, std::strerror(errno)));
  return fd;
}

// Not waited for: training does not wait for its reports either.
void report(const std::string &harmony, const std::string &epoch, const std::string &of) {
  std::string words[] = {harmony, "progress", "--epoch", epoch, "--of", of};
  char *arguments[] = {words[0].data(), words[1].data(), words[2].data(), words[3].data(),
                       words[4].data(), words[5].data(), nullptr};
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
  pid_t child = 0;
  posix_spawn(&child, harmony.c_str(), &files, nullptr, arguments, environ);
  posix_spawn_file_actions_destroy(&files);
}

} // namespace

int run_task(const TaskOptions &options) {
  std::signal(SIGCHLD, SIG_IGN); // children are gone when they end
  const TaskHello hello = hello_from_environment(options.job);
  const int world = connect_to(options.world);
  const std::string said = hello_text(hello) + "\n";
  if (send(world, said.data(), said.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(said.size()))
    throw std::runtime_error("the world does not listen");
  std::string text;
  char buffer[512];
  for (ssize_t got; (got = recv(world, buffer, sizeof buffer, 0)) > 0 || (got < 0 && errno == EINTR);) {
    if (got > 0) text.append(buffer, static_cast<std::size_t>(got));
    for (std::size_t end; (end = text.find('\n')) != std::string::npos; text.erase(0, end + 1)) {
      const std::string line = text.substr(0, end);
      if (line == "done") return 0;
      const std::size_t space = line.find(' ', 6);
      if (line.rfind("epoch ", 0) == 0 && space != std::string::npos && !options.harmony.empty())
        report(options.harmony, line.substr(6, space - 6), line.substr(space + 1));
    }
  }
  throw std::runtime_error(fmt::format("job {}: the world went away, or sent task {} away", hello.job, hello.rank));
}

} // namespace harmony
