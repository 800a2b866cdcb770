// Which task of which role runs on which node of a one-job gang. Pure: what Slurm says of the job goes in, a layout
// comes out; nothing is asked or started here.
//
// The rule, where no plan says it: a node runs as many workers as it has tasks and GPUs for; its other tasks are PS.
// Where that makes more workers than the gang has, nodes give one up to a PS in turns, first nodes first, as long as
// they keep one, and only then their last. A worker gets as many GPUs as every worker can have.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace harmony {

enum class Role { worker, ps };
const char *role_name(Role role);
std::optional<Role> role_of_name(const std::string &name);

// A node of the job: what Slurm allocated on it, and the roles that run there.
struct GangNode {
  std::string name;
  std::string address; // as others reach it; slurm.conf's NodeAddr
  int tasks = 0;
  int gpus = 0;
  int workers = 0;
  int ps = 0;
};

struct GangLayout {
  std::vector<GangNode> nodes; // in Slurm's order; tasks of a role are numbered along it
  int workers = 0;
  int ps = 0;
  int gpus_per_worker = 0;
  int base_port = 0; // worker i has base_port + i, PS i follows the workers, two more are for rendezvous
};

int count(const GangLayout &layout, Role role);
int count(const GangNode &node, Role role);

using Environment = std::map<std::string, std::string>;

// What is known of the job.
struct JobFacts {
  unsigned long id = 0;
  std::vector<GangNode> nodes; // name, address, tasks, gpus
  int gpus_per_task = 0;       // the owner's --gpus-per-task; 0 if there was none
  int cpus_per_task = 0;       // 0 if there was none
  bool memory_per_node = false;
};

struct JobReading {
  JobFacts job;
  std::string problem; // names variable, value and what is allowed
};

// hosts is SLURM_JOB_NODELIST, expanded. GPUs a node are taken from SLURM_GPUS* as far as they say; gpu_groups knows
// better.
JobReading read_job(const Environment &environment, const std::vector<std::string> &hosts);

// One group of nodes in `scontrol --details show job`: a host list and the GPUs on each of its nodes.
struct GpuGroup {
  std::string hosts;
  int gpus = 0;
};
std::vector<GpuGroup> gpu_groups(const std::string &scontrol_text, unsigned long job_id);

struct LayoutRequest {
  std::optional<int> ps_count; // --ps-count
  std::optional<int> port;     // --port
};

struct LayoutResult {
  GangLayout layout;
  std::optional<int> ps; // how many are wanted; known even where they do not fit
  std::vector<std::string> notes;
  std::string problem;
};

LayoutResult lay_out(const JobFacts &job, const Environment &environment, const LayoutRequest &request);

// "2(x3),1" -> 2 2 2 1; nothing if it is not of that form or more than limit long.
std::optional<std::vector<int>> expand_counts(const std::string &text, std::size_t limit);

// The layout as one word for the tasks' launcher, and back: 23000/n0@10.0.0.1=2+1,n1@10.0.0.2=1+0
std::string layout_text(const GangLayout &layout);
std::optional<GangLayout> layout_of_text(const std::string &text);

} // namespace harmony
