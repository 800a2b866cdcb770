#include "src/tool/run_command.h"

#include "src/run/gang_layout.h"
#include "src/run/role_environment.h"
#include "src/run/srun_step.h"
#include "src/tool/gang_processes.h"

#include <fmt/format.h>

#include <cstdlib>
#include <sstream>
#include <unistd.h>

extern char **environ;

namespace harmony {
namespace {

constexpr int could_not_start = 1, wrong_usage = 2;

int complain(int code, const std::string &problem) {
  fmt::print(stderr, "harmony run: {}\n", problem);
  return code;
}

Environment own_environment() {
  Environment environment;
  for (char **entry = environ; *entry; ++entry) {
    const std::string text = *entry;
    const std::size_t equals = text.find('=');
    if (equals != std::string::npos) environment[text.substr(0, equals)] = text.substr(equals + 1);
  }
  return environment;
}

std::vector<std::string> words(const std::string &text) {
  std::istringstream stream(text);
  std::vector<std::string> found;
  for (std::string word; stream >> word;) found.push_back(word);
  return found;
}

std::vector<std::string> hosts_of(const std::string &list) {
  if (list.empty() || list[0] == '-') return {};
  return words(output_of({"scontrol", "show", "hostnames", list}).value_or(""));
}

// How many GPUs each node has is in no variable; slurmctld knows. Without its answer the variables' word stands.
void ask_for_gpus(JobFacts &job) {
  const auto text = output_of({"scontrol", "--oneliner", "--details", "show", "job", std::to_string(job.id)});
  const std::vector<GpuGroup> groups = gpu_groups(text.value_or(""), job.id);
  std::map<std::string, int> gpus;
  for (const GpuGroup &group : groups)
    for (const std::string &host : hosts_of(group.hosts)) gpus[host] = group.gpus;
  if (gpus.empty()) return;
  for (GangNode &node : job.nodes) node.gpus = gpus[node.name];
}

// NodeAddr, because a node's name need not be one that hosts know.
void ask_for_addresses(JobFacts &job, const std::string &node_list) {
  const auto text = output_of({"scontrol", "--oneliner", "show", "node", node_list});
  std::map<std::string, std::string> addresses;
  std::string node;
  for (const std::string &word : words(text.value_or(""))) {
    if (word.rfind("NodeName=", 0) == 0) node = word.substr(9);
    if (word.rfind("NodeAddr=", 0) == 0) addresses[node] = word.substr(9);
  }
  for (GangNode &known : job.nodes)
    if (!addresses[known.name].empty()) known.address = addresses[known.name];
}

JobReading ask_for_job(const Environment &environment) {
  const auto list = environment.find("SLURM_JOB_NODELIST");
  const std::string node_list = list == environment.end() ? "" : list->second;
  JobReading reading = read_job(environment, hosts_of(node_list));
  if (!reading.problem.empty()) return reading;
  ask_for_gpus(reading.job);
  ask_for_addresses(reading.job, node_list);
  return reading;
}

std::string own_path() {
  char path[4096];
  const ssize_t length = readlink("/proc/self/exe", path, sizeof path);
  return length > 0 ? std::string(path, static_cast<std::size_t>(length)) : "harmony";
}

GangStep step_of(const GangLayout &layout, const JobFacts &job, Role role, const std::string &command) {
  GangStep step{role, srun_step(layout, job, role, std::to_string(getpid()))};
  for (const std::string &word : {own_path(), std::string("run"), std::string("--task"), std::string(role_name(role)),
                                  "--layout=" + layout_text(layout), "--worker=" + command})
    step.srun.arguments.push_back(word);
  return step;
}

std::string quoted(const std::string &word) {
  if (!word.empty() && word.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                              "-_=+,./:@%") == std::string::npos)
    return word;
  std::string text = "'";
  for (char letter : word) text += letter == '\'' ? std::string("'\\''") : std::string(1, letter);
  return text + "'";
}

int show(const GangLayout &layout, const std::vector<GangStep> &steps) {
  for (const GangStep &step : steps) {
    std::string line;
    for (const std::string &word : step.srun.arguments) line += (line.empty() ? "" : " ") + quoted(word);
    fmt::print("{}\n", line);
    for (int index = 0; index < count(layout, step.role); ++index) {
      const RoleEnvironment environment = role_environment(layout, step.role, index);
      if (!environment.problem.empty()) return complain(could_not_start, environment.problem);
      fmt::print("  {} {}\n", role_name(step.role), index);
      for (const auto &[name, value] : environment.set) fmt::print("    {}={}\n", name, quoted(value));
    }
  }
  return 0;
}

// In a task: becomes the role's command.
int become_task(const RunOptions &options) {
  const auto role = role_of_name(options.task);
  const auto layout = layout_of_text(options.layout);
  const char *node = std::getenv("SLURMD_NODENAME"), *local = std::getenv("SLURM_LOCALID");
  if (!role || !layout || !node || !local)
    return complain(wrong_usage, "--task is harmony's own, for the tasks that it starts");
  const int index = task_index(*layout, *role, node, std::atoi(local));
  if (index < 0)
    return complain(could_not_start, fmt::format("Slurm started {} {} on {}, where the layout {} has none",
                                                 options.task, local, node, options.layout));
  const RoleEnvironment environment = role_environment(*layout, *role, index);
  if (!environment.problem.empty()) return complain(could_not_start, environment.problem);
  for (const std::string &name : environment.unset) unsetenv(name.c_str());
  for (const auto &[name, value] : environment.set) setenv(name.c_str(), value.c_str(), 1);
  execl("/bin/sh", "sh", "-c", options.worker.c_str(), static_cast<char *>(nullptr));
  return complain(could_not_start, "cannot start /bin/sh");
}

} // namespace

int run_gang(const RunOptions &options) {
  if (!options.task.empty()) return become_task(options);
  if (options.worker.empty()) return complain(wrong_usage, "--worker is empty: a shell command is wanted");
  const Environment environment = own_environment();
  const JobReading reading = ask_for_job(environment);
  if (!reading.problem.empty()) return complain(could_not_start, reading.problem);
  const LayoutResult result = lay_out(reading.job, environment, {options.ps_count, options.port});
  for (const std::string &note : result.notes) fmt::print(stderr, "harmony run: note: {}\n", note);
  if (result.ps && *result.ps > 0 && options.ps.empty())
    return complain(wrong_usage, fmt::format("the gang has {} PS: --ps 'COMMAND' is wanted", *result.ps));
  if (result.ps && *result.ps == 0 && !options.ps.empty())
    return complain(wrong_usage, "--ps: the gang has no PS; say how many with --ps-count or sbatch --harmony-ps");
  // A problem that starts with an option is the caller's.
  if (!result.problem.empty())
    return complain(result.problem.rfind("--", 0) == 0 ? wrong_usage : could_not_start, result.problem);
  const GangLayout &layout = result.layout;
  const RoleEnvironment last = role_environment(layout, Role::worker, layout.workers - 1);
  if (!last.problem.empty()) return complain(could_not_start, last.problem);

  std::vector<GangStep> steps;
  if (layout.ps > 0) steps.push_back(step_of(layout, reading.job, Role::ps, options.ps));
  steps.push_back(step_of(layout, reading.job, Role::worker, options.worker));
  return options.dry_run ? show(layout, steps) : run_steps(reading.job.id, steps);
}

} // namespace harmony
