#include "src/run/srun_step.h"

#include <fmt/format.h>

#include <csignal>
#include <cstring>
#include <cstdlib>

namespace harmony {

SrunStep srun_step(const GangLayout &layout, const JobFacts &job, Role role, const std::string &tag) {
  std::string nodes;
  int node_count = 0;
  for (const GangNode &node : layout.nodes) {
    node_count += count(node, role) > 0;
    for (int i = 0; i < count(node, role); ++i) nodes += (nodes.empty() ? "" : ",") + node.name;
  }
  SrunStep step;
  step.name = fmt::format("{}-{}", role_name(role), tag);
  // A node named once a task, in arbitrary distribution, is the one way to have unequal numbers on nodes.
  step.arguments = {"srun",
                    "--exact",
                    "--export=ALL",
                    "--input=none",
                    "--quit-on-interrupt",
                    "--kill-on-bad-exit=1",
                    "--job-name=" + step.name,
                    fmt::format("--nodes={}", node_count),
                    fmt::format("--ntasks={}", count(layout, role)),
                    "--distribution=arbitrary",
                    "--nodelist=" + nodes};
  if (role == Role::worker && layout.gpus_per_worker > 0)
    step.arguments.push_back(fmt::format("--gpus-per-task={}", layout.gpus_per_worker));
  else
    step.arguments.push_back("--gpus=0");
  if (job.cpus_per_task > 0) step.arguments.push_back(fmt::format("--cpus-per-task={}", job.cpus_per_task));
  // With --mem the first step would take all of a node's memory, and the second wait for it for ever.
  if (job.memory_per_node) step.arguments.push_back("--mem=0");
  return step;
}

bool misleads_srun(const std::string &variable) {
  for (const char *prefix :
       {"SLURM_GPU", "SLURM_NTASKS", "SLURM_NPROCS", "SLURM_TRES_PER_TASK", "SLURM_DISTRIBUTION", "SLURM_HOSTFILE",
        "SLURM_GRES", "SLURM_STEP_GRES", "SLURM_NNODES", "SLURM_THREADS_PER_CORE"})
    if (variable.rfind(prefix, 0) == 0) return true;
  return false;
}

int reported_failure(const std::string &line) {
  if (line.rfind("srun: error: ", 0) != 0) return 0;
  const std::size_t task = line.find(": task");
  const std::size_t colon = task == std::string::npos ? task : line.find(": ", task + 2);
  if (colon == std::string::npos) return 0;
  const std::string event = line.substr(colon + 2);
  const std::string exited = "Exited with exit code ";
  if (event.rfind(exited, 0) == 0) return std::atoi(event.c_str() + exited.size());
  for (int signal = 1; signal < 32; ++signal)
    if (event.rfind(strsignal(signal), 0) == 0) return 128 + signal;
  return event.rfind("Out Of Memory", 0) == 0 ? 128 + SIGKILL : 0;
}

} // namespace harmony
