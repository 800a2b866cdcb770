#include "src/run/gang_layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>

namespace harmony {
namespace {

constexpr int most_tasks = 8192;
constexpr int first_port = 20000, port_count = 10000, rendezvous_ports = 2;

std::optional<int> number(const std::string &text, int lowest, int highest) {
  int value = 0;
  const char *end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || rest != end || text.empty() || value < lowest || value > highest) return {};
  return value;
}

std::vector<std::string> split(const std::string &text, char separator) {
  std::vector<std::string> parts;
  std::size_t begin = 0, end;
  while ((end = text.find(separator, begin)) != std::string::npos) {
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  parts.push_back(text.substr(begin));
  return parts;
}

std::string value_of(const Environment &environment, const char *name) {
  const auto found = environment.find(name);
  return found == environment.end() ? std::string() : found->second;
}

// A number of GPUs in Slurm's words: 2, gtx1080ti:2, or v100:2,a100:1.
std::optional<int> gpu_number(const std::string &text) {
  int sum = 0;
  for (const std::string &part : split(text, ',')) {
    const std::size_t colon = part.rfind(':');
    const auto gpus = number(colon == std::string::npos ? part : part.substr(colon + 1), 0, 1 << 16);
    if (!gpus) return {};
    sum += *gpus;
  }
  return sum;
}

std::string bad(const char *name, const std::string &value, const std::string &allowed) {
  return fmt::format("{}={}: {}", name, value.empty() ? "(unset)" : value.substr(0, 200), allowed);
}

// "2+1" of a plan into a node's workers and PS.
bool read_roles(const std::string &text, GangNode &node) {
  const std::size_t plus = text.find('+');
  if (plus == std::string::npos) return false;
  const auto workers = number(text.substr(0, plus), 0, most_tasks), ps = number(text.substr(plus + 1), 0, most_tasks);
  if (!workers || !ps) return false;
  node.workers = *workers;
  node.ps = *ps;
  return true;
}

void sum_up(GangLayout &layout) {
  layout.workers = layout.ps = 0;
  for (const GangNode &node : layout.nodes) {
    layout.workers += node.workers;
    layout.ps += node.ps;
  }
}

int total_gpus(const std::vector<GangNode> &nodes) {
  int gpus = 0;
  for (const GangNode &node : nodes) gpus += node.gpus;
  return gpus;
}

std::optional<std::vector<GangNode>> read_plan(const std::string &text) {
  std::vector<GangNode> nodes;
  for (const std::string &part : split(text, ',')) {
    const std::size_t equals = part.find('=');
    GangNode node;
    node.name = part.substr(0, equals);
    if (node.name.empty() || equals == std::string::npos || !read_roles(part.substr(equals + 1), node)) return {};
    nodes.push_back(node);
  }
  return nodes;
}

// Puts the plan's roles into the layout's nodes; says why not if it is a plan for something else.
std::string misfit(const std::vector<GangNode> &plan, GangLayout &layout) {
  std::set<std::string> seen;
  const int gpus = total_gpus(layout.nodes);
  for (const GangNode &planned : plan) {
    const auto node = std::find_if(layout.nodes.begin(), layout.nodes.end(),
                                   [&](const GangNode &candidate) { return candidate.name == planned.name; });
    if (node == layout.nodes.end()) return fmt::format("node {} is not in the job", planned.name);
    if (!seen.insert(planned.name).second) return fmt::format("node {} is named twice", planned.name);
    if (planned.workers + planned.ps > node->tasks)
      return fmt::format("node {} has {} tasks", planned.name, node->tasks);
    if (gpus > 0 && planned.workers > node->gpus) return fmt::format("node {} has {} GPUs", planned.name, node->gpus);
    node->workers = planned.workers;
    node->ps = planned.ps;
  }
  sum_up(layout);
  return {};
}

int room(const GangNode &node, int gpus_per_worker) {
  return gpus_per_worker > 0 ? std::min(node.tasks, node.gpus / gpus_per_worker) : node.tasks;
}

int room(const std::vector<GangNode> &nodes, int gpus_per_worker) {
  int sum = 0;
  for (const GangNode &node : nodes) sum += room(node, gpus_per_worker);
  return sum;
}

std::string too_little_room(const GangLayout &layout, int workers) {
  std::string nodes;
  for (std::size_t i = 0; i < layout.nodes.size() && i < 8; ++i)
    nodes += fmt::format("{}{} has {} tasks and {} GPUs", i ? ", " : "", layout.nodes[i].name, layout.nodes[i].tasks,
                         layout.nodes[i].gpus);
  return fmt::format("{} workers do not fit, each with a task and a GPU of one node: {}{}; --ntasks-per-node or "
                     "--gpus-per-task would have made room",
                     workers, nodes, layout.nodes.size() > 8 ? ", ..." : "");
}

// The rule of the header.
std::string spread(GangLayout &layout, int workers) {
  int surplus = room(layout.nodes, layout.gpus_per_worker) - workers;
  if (surplus < 0) return too_little_room(layout, workers);
  for (GangNode &node : layout.nodes) node.workers = room(node, layout.gpus_per_worker);
  for (int keep : {1, 0}) {
    for (bool moved = true; moved && surplus > 0;) {
      moved = false;
      for (GangNode &node : layout.nodes) {
        if (surplus == 0 || node.workers <= keep) continue;
        --node.workers;
        --surplus;
        moved = true;
      }
    }
  }
  for (GangNode &node : layout.nodes) node.ps = node.tasks - node.workers;
  sum_up(layout);
  return {};
}

// As many as every worker can have, on any of its nodes.
int gpus_per_worker(const GangLayout &layout, const JobFacts &job, int workers) {
  const int gpus = total_gpus(job.nodes);
  if (gpus == 0) return 0;
  int most = std::max(1, gpus / workers);
  if (job.gpus_per_task > 0) most = std::min(most, job.gpus_per_task);
  const auto fits = [&](int each) {
    if (layout.workers == 0) return room(job.nodes, each) >= workers;
    return std::all_of(layout.nodes.begin(), layout.nodes.end(),
                       [&](const GangNode &node) { return node.workers * each <= node.gpus; });
  };
  while (most > 1 && !fits(most)) --most;
  return most;
}

std::string choose_port(const JobFacts &job, const LayoutRequest &request, GangLayout &layout) {
  const int needed = layout.workers + layout.ps + rendezvous_ports;
  if (request.port && *request.port + needed > 65536)
    return fmt::format("--port {}: {} ports are needed from there on, the last is 65535", *request.port, needed);
  // Jobs one after another may share a node; steps of 64 keep their ports apart as long as the gangs are smaller.
  layout.base_port =
      request.port ? *request.port : first_port + static_cast<int>(job.id * 64 % (port_count - needed + 1));
  return {};
}

// The number of PS: --ps-count, else HARMONY_PS, else what the plan has, else none.
std::optional<int> wanted_ps(const Environment &environment, const LayoutRequest &request, int planned, int tasks,
                             std::string &problem) {
  const std::string declared = value_of(environment, "HARMONY_PS");
  if (!request.ps_count && declared.empty()) return planned;
  const auto ps = request.ps_count ? request.ps_count : number(declared, 0, most_tasks);
  if (ps && *ps >= 0 && *ps < tasks) return ps;
  const std::string allowed =
      fmt::format("a number from 0 to {} is allowed: the job has {} tasks, one at least is a worker", tasks - 1, tasks);
  problem = request.ps_count ? fmt::format("--ps-count {}: {}", *request.ps_count, allowed)
                             : bad("HARMONY_PS", declared, allowed);
  return {};
}

// What the owner asked for, a task and a node.
std::string read_demands(const Environment &environment, JobFacts &job) {
  const std::string per_task = value_of(environment, "SLURM_GPUS_PER_TASK");
  const std::string cpus = value_of(environment, "SLURM_CPUS_PER_TASK");
  const auto gpus_per_task = gpu_number(per_task.empty() ? "0" : per_task);
  const auto cpus_per_task = number(cpus.empty() ? "0" : cpus, 0, 1 << 16);
  if (!gpus_per_task) return bad("SLURM_GPUS_PER_TASK", per_task, "a number of GPUs is wanted");
  if (!cpus_per_task) return bad("SLURM_CPUS_PER_TASK", cpus, "a number of CPUs is wanted");
  job.gpus_per_task = *gpus_per_task;
  job.cpus_per_task = *cpus_per_task;
  job.memory_per_node = !value_of(environment, "SLURM_MEM_PER_NODE").empty();

  const std::string per_node = value_of(environment, "SLURM_GPUS_PER_NODE");
  const std::string here = value_of(environment, "SLURM_GPUS_ON_NODE");
  for (GangNode &node : job.nodes)
    node.gpus = job.gpus_per_task ? node.tasks * job.gpus_per_task
                                  : gpu_number(!per_node.empty() ? per_node : here).value_or(0);
  return {};
}

} // namespace

const char *role_name(Role role) { return role == Role::worker ? "worker" : "ps"; }

std::optional<Role> role_of_name(const std::string &name) {
  if (name == "worker") return Role::worker;
  if (name == "ps") return Role::ps;
  return {};
}

int count(const GangLayout &layout, Role role) { return role == Role::worker ? layout.workers : layout.ps; }
int count(const GangNode &node, Role role) { return role == Role::worker ? node.workers : node.ps; }

std::optional<std::vector<int>> expand_counts(const std::string &text, std::size_t limit) {
  std::vector<int> counts;
  for (const std::string &part : split(text, ',')) {
    const std::size_t open = part.find("(x");
    const auto each = number(part.substr(0, open), 1, most_tasks);
    std::optional<int> times = 1;
    if (open != std::string::npos)
      times = part.back() == ')' ? number(part.substr(open + 2, part.size() - open - 3), 1, 1 << 20) : std::nullopt;
    if (!each || !times || counts.size() + static_cast<std::size_t>(*times) > limit) return {};
    counts.insert(counts.end(), static_cast<std::size_t>(*times), *each);
  }
  return counts;
}

JobReading read_job(const Environment &environment, const std::vector<std::string> &hosts) {
  JobReading reading;
  JobFacts &job = reading.job;
  const std::string id = value_of(environment, "SLURM_JOB_ID");
  const auto job_id = number(id, 1, 0x7fffffff);
  if (!job_id) return {{}, bad("SLURM_JOB_ID", id, "a job's number is wanted; run it inside sbatch or salloc")};
  if (!value_of(environment, "SLURM_HET_SIZE").empty())
    return {{},
            bad("SLURM_HET_SIZE", value_of(environment, "SLURM_HET_SIZE"),
                "a hetjob has a component a role: start them with srun --het-group")};
  job.id = static_cast<unsigned long>(*job_id);
  if (hosts.empty())
    return {{}, bad("SLURM_JOB_NODELIST", value_of(environment, "SLURM_JOB_NODELIST"), "a host list is wanted")};
  const std::string tasks = value_of(environment, "SLURM_TASKS_PER_NODE");
  const auto counts = expand_counts(tasks, hosts.size());
  if (!counts || counts->size() != hosts.size())
    return {{},
            bad("SLURM_TASKS_PER_NODE", tasks,
                fmt::format("counts such as 2(x3),1 are wanted, one for each of {} nodes", hosts.size()))};
  int sum = 0;
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    job.nodes.push_back({hosts[i], hosts[i], (*counts)[i], 0, 0, 0});
    sum += (*counts)[i];
  }
  const std::string total = value_of(environment, "SLURM_NTASKS");
  if (sum > most_tasks || (!total.empty() && number(total, 1, most_tasks) != sum))
    return {{},
            bad("SLURM_NTASKS", total,
                fmt::format("SLURM_TASKS_PER_NODE={} makes {} tasks; at most {}", tasks, sum, most_tasks))};

  reading.problem = read_demands(environment, job);
  return reading;
}

std::vector<GpuGroup> gpu_groups(const std::string &scontrol_text, unsigned long job_id) {
  std::vector<GpuGroup> groups;
  for (const std::string &line : split(scontrol_text, '\n')) {
    if (line.rfind(fmt::format("JobId={} ", job_id), 0) != 0) continue;
    const std::vector<std::string> words = split(line, ' ');
    for (std::size_t i = 0; i + 1 < words.size(); ++i) {
      if (words[i].rfind("Nodes=", 0) != 0 || words[i + 1].rfind("CPU_IDs=", 0) != 0) continue;
      GpuGroup group{words[i].substr(6), 0};
      // GRES=gpu:v100:2(IDX:0-1),gpu:a100:1(IDX:2): the number before each bracket.
      for (std::size_t j = i + 2; j < words.size() && j < i + 5; ++j) {
        if (words[j].rfind("GRES=", 0) != 0) continue;
        std::size_t at = 5;
        while ((at = words[j].find("gpu:", at)) != std::string::npos) {
          const std::string count = words[j].substr(at + 4, words[j].find('(', at) - at - 4);
          group.gpus += gpu_number(count).value_or(0);
          at += 4;
        }
      }
      groups.push_back(group);
    }
  }
  return groups;
}

LayoutResult lay_out(const JobFacts &job, const Environment &environment, const LayoutRequest &request) {
  LayoutResult result;
  GangLayout &layout = result.layout;
  layout.nodes = job.nodes;
  int tasks = 0;
  for (const GangNode &node : job.nodes) tasks += node.tasks;

  const std::string plan_text = value_of(environment, "HARMONY_PLAN");
  std::string why_not;
  if (!plan_text.empty()) {
    const auto plan = read_plan(plan_text);
    if (!plan) {
      result.problem = bad("HARMONY_PLAN", plan_text, "NODE=WORKERS+PS,... is wanted, such as n0=2+1,n1=1+0");
      return result;
    }
    why_not = misfit(*plan, layout);
  }
  const auto ps = wanted_ps(environment, request, why_not.empty() ? layout.ps : 0, tasks, result.problem);
  if (!ps) return result;
  result.ps = ps;
  const bool planned = layout.workers + layout.ps > 0;
  if (planned && why_not.empty() && (layout.workers + layout.ps != tasks || layout.ps != *ps))
    why_not =
        fmt::format("it has {} workers and {} PS, the job {} and {}", layout.workers, layout.ps, tasks - *ps, *ps);
  if (!why_not.empty()) {
    result.notes.push_back(
        fmt::format("HARMONY_PLAN={} is not this job's ({}); roles are spread by the rule", plan_text, why_not));
    layout.nodes = job.nodes;
    sum_up(layout);
  }
  const int workers = layout.workers > 0 ? layout.workers : tasks - *ps;
  layout.gpus_per_worker = gpus_per_worker(layout, job, workers);
  if (layout.workers == 0) result.problem = spread(layout, workers);
  if (result.problem.empty()) result.problem = choose_port(job, request, layout);
  return result;
}

std::string layout_text(const GangLayout &layout) {
  std::string text = fmt::format("{}/", layout.base_port);
  for (const GangNode &node : layout.nodes)
    text += fmt::format("{}{}@{}={}+{}", text.back() == '/' ? "" : ",", node.name, node.address, node.workers, node.ps);
  return text;
}

std::optional<GangLayout> layout_of_text(const std::string &text) {
  GangLayout layout;
  const std::size_t slash = text.find('/');
  const auto port = number(text.substr(0, slash), 1, 65535);
  if (!port || slash == std::string::npos) return {};
  layout.base_port = *port;
  for (const std::string &part : split(text.substr(slash + 1), ',')) {
    const std::size_t at = part.find('@'), equals = part.find('=');
    if (at == std::string::npos || equals == std::string::npos || equals < at) return {};
    GangNode node;
    node.name = part.substr(0, at);
    node.address = part.substr(at + 1, equals - at - 1);
    if (node.name.empty() || node.address.empty() || !read_roles(part.substr(equals + 1), node)) return {};
    layout.nodes.push_back(node);
  }
  sum_up(layout);
  if (layout.workers < 1) return {};
  return layout;
}

} // namespace harmony
