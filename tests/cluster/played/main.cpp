// played-nodes: one process that plays N slurmds for test clusters of more nodes than slurmds fit on a machine.
//
// It registers the nodes with slurmctld, acknowledges what slurmctld sends, and runs batch jobs as timers:
// nothing of a job is ever executed. srun steps are refused. Everything about a node comes from slurm.conf.
//
//   node_config  slurm.conf, gres.conf -> Node            loop      ports and timers, one thread
//   gres         Node -> what a slurmd says of its GRES   messages  read and answer a message, a few workers
//   jobs         the timers; owner of all job state       actions   what a message does
//   outbox       what is said to slurmctld, with retries, a few threads
#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdio>
#include <fstream>
#include <string>

#include "tests/cluster/played/node_config.h"
#include "tests/cluster/played/loop.h"
#include "tests/cluster/played/slurm.h"

namespace {

constexpr int exit_failed = 1;
constexpr int exit_usage = 2;
constexpr auto register_limit = std::chrono::seconds(30);

const char *const description_text =
    "Plays the nodes of NODELIST (as \"p[0-1999]\") for a test cluster: one process instead of one slurmd a node.\n"
    "slurm.conf is found through SLURM_CONF; NodeAddr, Port, Sockets, CoresPerSocket, ThreadsPerCore, RealMemory,\n"
    "TmpDisk and Gres of each node come from it. Each node listens at exactly its NodeAddr:Port (IPv4).";

const char *const footer_text =
    "Batch scripts are not executed. A job takes N seconds from the first line that begins with \"sleep N\" (N may be\n"
    "fractional), no time without one, and ends with the code of the first line that begins with \"exit N\", else 0.\n"
    "srun steps are refused (ESLURM_NOT_SUPPORTED): only batch scripts are played.\n"
    "\n"
    "GPUs need no gres.conf and no device files; where gres.conf has lines for them (File=, Cores=, Links=), those\n"
    "count. slurm.conf is read once: changed NodeName lines need a restart. SlurmctldHost is the first one only.\n"
    "SlurmdDebug is the log level: debug2 logs every message and every completion.\n"
    "\n"
    "Without --foreground the command returns when all nodes have registered. It tries for 30 s, so slurmctld may\n"
    "be started at the same time. SIGTERM and SIGINT end it; so does \"scontrol shutdown\".\n"
    "\n"
    "Exit status: 0 ended by a signal, or all registered and running in the background;\n"
    "             1 slurm.conf, an address or the registration failed; 2 wrong usage.";

struct Options {
  bool foreground = false;
  std::string pid_file;
  std::string log_file;
  std::string nodelist;
};

log_options_t log_options(const Options &options, log_level_t level) {
  log_options_t log = LOG_OPTS_INITIALIZER;
  log.stderr_level = options.log_file.empty() ? level : LOG_LEVEL_ERROR;
  log.logfile_level = options.log_file.empty() ? LOG_LEVEL_QUIET : level;
  return log;
}

void read_slurm_conf(const Options &options) {
  char *log_file = options.log_file.empty() ? nullptr : const_cast<char *>(options.log_file.c_str());
  char name[] = "played-nodes"; // not "slurmd": Slurm's code would then look for this machine's GPUs
  log_init(name, log_options(options, LOG_LEVEL_INFO), SYSLOG_FACILITY_USER, log_file);
  slurm_conf_init(nullptr);
  const auto level = static_cast<log_level_t>(slurm_conf.slurmd_debug);
  log_alter(log_options(options, level), SYSLOG_FACILITY_USER, log_file);
}

played::Fd block_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  sigprocmask(SIG_BLOCK, &signals, nullptr);
  signal(SIGPIPE, SIG_IGN);
  return played::Fd(signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK));
}

// The parent waits for the child's word and returns its exit code; the child returns -1 and may say one byte.
int go_to_background(played::Fd &say) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) throw played::ConfigError("cannot open a pipe; nothing is played");
  played::Fd hear(ends[0]);
  say = played::Fd(ends[1]);
  const pid_t child = fork();
  if (child < 0) throw played::ConfigError("cannot fork; nothing is played");
  if (child == 0) {
    setsid();
    return -1;
  }
  say = played::Fd();
  char word = exit_failed; // also when the child ended without a word
  if (read(hear.get(), &word, 1) != 1) word = exit_failed;
  return word;
}

void tell_parent(const played::Fd &say, bool has_log_file) {
  const char good = 0;
  if (say.get() < 0) return;
  if (write(say.get(), &good, 1) != 1) error("the parent process is gone; playing goes on");
  // Whoever reads our output would otherwise wait for its end as long as we live.
  const played::Fd null(open("/dev/null", O_RDWR | O_CLOEXEC));
  for (int fd = 0; fd <= (has_log_file ? 2 : 1); ++fd) dup2(null.get(), fd);
}

bool write_pid(const std::string &path) {
  if (path.empty()) return true;
  std::ofstream file(path);
  file << getpid() << '\n';
  file.close();
  if (!file) error("cannot write the pid file %s: %m; nothing is played", path.c_str());
  return bool(file);
}

int play(const Options &options, const std::vector<played::Node> &nodes, const std::vector<played::Fd> &listeners,
         const played::Fd &signals, const played::Fd &parent) {
  const played::Fd wake(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  played::JobTable jobs(wake.get());
  played::Outbox outbox(nodes, jobs);
  played::Messages messages(nodes, jobs, outbox);
  played::Connections connections(messages);
  played::Loop loop(listeners, signals.get(), wake.get(), jobs, outbox, connections);

  connections.start();
  outbox.start();
  for (size_t node = 0; node < nodes.size(); ++node) {
    played::Letter letter;
    letter.node = node;
    outbox.put(letter);
  }
  auto until = loop.run(nodes.size(), register_limit);
  if (until == played::Loop::Until::TooLate) {
    error("%zu of %zu nodes could not register within 30 s; is slurmctld running with %s? Giving up",
          nodes.size() - outbox.registered(), nodes.size(), slurm_conf.slurm_conf);
  } else if (until == played::Loop::Until::Registered) {
    info("%zu nodes have registered", nodes.size());
    tell_parent(parent, !options.log_file.empty());
    until = loop.run();
  }
  // Workers before the outbox: what they still post has a place to go.
  connections.stop();
  outbox.stop();
  info("ends");
  return until == played::Loop::Until::TooLate ? exit_failed : 0;
}

int run(const Options &options) {
  read_slurm_conf(options);
  const std::vector<played::Node> nodes = played::read_nodes(options.nodelist);
  const std::vector<played::Fd> listeners = played::listen_for(nodes);
  const played::Fd signals = block_signals();
  played::Fd parent;
  if (!options.foreground) {
    const int code = go_to_background(parent);
    if (code >= 0) return code;
  }
  if (!write_pid(options.pid_file)) return exit_failed;
  const int code = play(options, nodes, listeners, signals, parent);
  if (!options.pid_file.empty()) unlink(options.pid_file.c_str());
  return code;
}

} // namespace

int main(int argc, char **argv) {
  Options options;
  CLI::App app(description_text, "played-nodes");
  app.footer(footer_text);
  app.add_flag("--foreground", options.foreground, "stay in the foreground; log to stderr without --log-file");
  app.add_option("--pid-file", options.pid_file, "write the process id here; removed at the end");
  app.add_option("--log-file", options.log_file, "append the log here");
  app.add_option("NODELIST", options.nodelist, "Slurm host list of the nodes to play")->required();
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError &wrong) {
    return app.exit(wrong) == 0 ? 0 : exit_usage;
  }
  try {
    return run(options);
  } catch (const played::ConfigError &wrong) {
    std::fprintf(stderr, "played-nodes: %s\n", wrong.what());
    return exit_failed;
  }
}
