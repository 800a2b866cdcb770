#include "plugin/slurm_version.h"

#include "plugin/engine/job_reader.h"

#include "plugin/engine/slurm_values.h"
#include "src/values/job_description.h"
#include "src/values/printable.h"

#include <fmt/format.h>

#include <string_view>

namespace harmony {
namespace {

constexpr std::string_view option_prefix = "_SLURM_SPANK_OPTION_harmony_harmony_";

void read_option(std::string_view name, std::string_view value, JobDescription &description) {
  const char *allowed = nullptr;
  description.annotated = true;
  if (name == "type") {
    if (is_type(value))
      description.type = value;
    else
      allowed = type_allowed;
  } else if (name == "ps") {
    if (!read_ps(value, description.ps)) allowed = ps_allowed;
  } else if (name == "epochs") {
    if (!read_epochs(value, description.epochs)) allowed = epochs_allowed;
  } else if (name == "model_mb") {
    if (!read_model_mb(value, description.model_kb)) allowed = model_mb_allowed;
  }
  if (allowed && description.problem.empty())
    description.problem =
        fmt::format("--harmony-{}={} is not {}", name == "model_mb" ? "model-mb" : name, printable(value), allowed);
}

struct GpuRequest {
  const gres_job_state_t *gpus = nullptr;
  std::string left;
};

GpuRequest gpu_request(const job_record_t &job) {
  GpuRequest request;
  for_each<gres_state_t>(job.gres_list_req, [&request](gres_state_t &gres) {
    if (!is_gpu(gres))
      request.left = fmt::format("it asks for gres {}", text(gres.gres_name));
    else if (request.gpus)
      request.left = "it asks for GPUs of several types";
    else
      request.gpus = static_cast<const gres_job_state_t *>(gres.gres_data);
  });
  return request;
}

std::string read_gpus(const gres_job_state_t &gpus, Component &component) {
  if (gpus.gres_per_socket) return "--gpus-per-socket is not planned";
  if (gpus.cpus_per_gres || gpus.def_cpus_per_gres) return "--cpus-per-gpu is not planned";
  if (gpus.ntasks_per_gres && gpus.ntasks_per_gres != NO_VAL16) return "--ntasks-per-gpu is not planned";
  if (gpus.mem_per_gres) component.memory_per_gpu_mb = gpus.mem_per_gres;
  component.gpus.model = text(gpus.type_name);
  if (gpus.gres_per_task && !gpus.gres_per_node)
    component.gpus.per_task = static_cast<int>(gpus.gres_per_task);
  else if (gpus.gres_per_node && !gpus.gres_per_job && !gpus.gres_per_task)
    component.gpus.per_node = static_cast<int>(gpus.gres_per_node);
  else if (gpus.gres_per_job && !gpus.gres_per_node)
    component.gpus.per_job = static_cast<int>(gpus.gres_per_job);
  else
    return "it asks for GPUs in several ways at once";
  return "";
}

bool asked(std::uint16_t value) { return value != 0 && value != NO_VAL16 && value != INFINITE16; }

// What stock can do with a job and we do not plan.
std::string unplanned_shape(const job_record_t &job, const job_details &details) {
  if (details.expanding_jobid) return "it expands another job";
  if (details.contiguous) return "--contiguous is not planned";
  if (details.overcommit) return "--overcommit is not planned";
  if (details.core_spec != NO_VAL16) return "--core-spec is not planned";
  if (job.req_switch) return "--switches is not planned";
  if (job.reboot) return "--reboot is not planned";
  if (job.bit_flags & GRES_ENFORCE_BIND) return "--gres-flags=enforce-binding is not planned";
  if (job.het_job_id && job.part_ptr && job.part_ptr->max_cpus_per_node != INFINITE)
    return "hetjobs are not planned in a partition with MaxCPUsPerNode";
  if (job.burst_buffer) return "burst buffers are not planned";
  if (details.whole_node > 1) return "--exclusive=user and --exclusive=mcs are not planned";
  if (const multi_core_data_t *cores = details.mc_ptr) {
    if (asked(cores->sockets_per_node) || asked(cores->cores_per_socket) || asked(cores->threads_per_core) ||
        asked(cores->ntasks_per_socket) || asked(cores->ntasks_per_board))
      return "sockets, cores and threads asked for by number are not planned";
  }
  return "";
}

void read_memory(const job_details &details, Component &component) {
  if (component.memory_per_gpu_mb || details.pn_min_memory == NO_VAL64) return;
  const std::uint64_t amount = details.pn_min_memory & ~MEM_PER_CPU;
  if (details.pn_min_memory & MEM_PER_CPU)
    component.memory_per_cpu_mb = amount;
  else
    component.memory_per_node_mb = amount;
}

void read_shape(const job_details &details, const part_record_t *partition, Component &component) {
  component.cpus_per_task = asked(details.cpus_per_task) ? details.cpus_per_task : 1;
  component.min_nodes = static_cast<int>(std::max<std::uint32_t>(details.min_nodes, 1));
  std::uint32_t max_nodes = details.max_nodes == NO_VAL ? 0 : details.max_nodes;
  if (partition && partition->max_nodes && partition->max_nodes != INFINITE && partition->max_nodes != NO_VAL)
    max_nodes = max_nodes ? std::min(max_nodes, partition->max_nodes) : partition->max_nodes;
  component.max_nodes = static_cast<int>(std::min<std::uint32_t>(max_nodes, INT32_MAX));
  component.tasks_per_node = asked(details.ntasks_per_node) ? details.ntasks_per_node : 0;
  component.one_task_a_core = details.mc_ptr && details.mc_ptr->ntasks_per_core == 1;
}

int tasks_of(const job_details &details, const Component &component) {
  if (details.num_tasks && details.num_tasks != NO_VAL) return static_cast<int>(details.num_tasks);
  return component.min_nodes * std::max(component.tasks_per_node, 1);
}

// Workers hold GPUs and PS do not, so a hetjob's component without GPUs is its PS; in one job the owner says how many.
std::string share_roles(const job_record_t &job, const JobDescription &description, int tasks, bool with_gpus,
                        Component &component) {
  const int ps = static_cast<int>(description.ps);
  if (job.het_job_id) {
    (with_gpus || !ps ? component.workers : component.ps) = tasks;
  } else {
    if (ps >= tasks) return fmt::format("--harmony-ps={} leaves no worker among {} tasks", ps, tasks);
    component.ps = ps;
    component.workers = tasks - ps;
  }
  if (component.gpus.per_job && (component.workers == 0 || component.gpus.per_job % component.workers))
    return fmt::format("{} GPUs cannot be divided evenly among {} workers", component.gpus.per_job, component.workers);
  return "";
}

} // namespace

JobDescription description_of(const job_record_t &job) {
  JobDescription description;
  for (std::uint32_t i = 0; i < job.spank_job_env_size; ++i) {
    const std::string_view entry = job.spank_job_env[i] ? job.spank_job_env[i] : "";
    if (entry.substr(0, option_prefix.size()) != option_prefix) continue;
    const std::string_view rest = entry.substr(option_prefix.size());
    const std::size_t equals = rest.find('=');
    if (equals != std::string_view::npos) read_option(rest.substr(0, equals), rest.substr(equals + 1), description);
  }
  return description;
}

bool is_managed(const job_record_t &job, Manage manage) {
  for (std::uint32_t i = 0; i < job.spank_job_env_size; ++i)
    if (job.spank_job_env[i] && std::strncmp(job.spank_job_env[i], option_prefix.data(), option_prefix.size()) == 0)
      return true;
  return manage == Manage::gpu && gpu_request(job).gpus;
}

ComponentReading component_of(const job_record_t &job, const JobDescription &description) {
  ComponentReading reading;
  reading.component.job = job.job_id;
  if (!job.details) return {{}, "slurmctld has no details of it"};
  const job_details &details = *job.details;
  if (!description.problem.empty()) return {{}, description.problem};
  if (std::string left = unplanned_shape(job, details); !left.empty()) return {{}, left};
  const GpuRequest request = gpu_request(job);
  if (!request.left.empty()) return {{}, request.left};
  Component &component = reading.component;
  read_shape(details, job.part_ptr, component);
  component.whole_nodes = takes_whole_nodes(job);
  if (request.gpus) reading.left = read_gpus(*request.gpus, component);
  if (!reading.left.empty()) return reading;
  read_memory(details, component);
  const int tasks = tasks_of(details, component);
  if (tasks < 1 || tasks > 100000) return {{}, fmt::format("{} tasks are not planned", tasks)};
  reading.left = share_roles(job, description, tasks, request.gpus != nullptr, component);
  if (reading.left.empty() &&
      details.pn_min_cpus > static_cast<std::uint32_t>(component.cpus_per_task * std::max(component.tasks_per_node, 1)))
    reading.left = "--mincpus is not planned";
  return reading;
}

bool takes_whole_nodes(const job_record_t &job) {
  return job.details->whole_node == 1 || (job.part_ptr && job.part_ptr->max_share == 0);
}

bool waits_for_resources(const job_record_t &job, std::time_t now) {
  const job_record_t *const record = &job; // for Slurm's macros
  if (!IS_JOB_PENDING(record) || IS_JOB_COMPLETING(record) || !job.details || job.priority == 0) return false;
  if (job.details->begin_time > now) return false;
  switch (job.state_reason) {
  case WAIT_NO_REASON:
  case WAIT_PRIORITY:
  case WAIT_RESOURCES:
  case WAIT_RESERVATION:
  case WAIT_NODE_NOT_AVAIL:
  case WAIT_FRONT_END: return !job.details->depend_list || list_count(job.details->depend_list) == 0;
  case WAIT_TIME:             // its time has come, see above
  case WAIT_ARRAY_TASK_LIMIT: // copies_of() keeps to it
  case WAIT_CLEANING: return true;
  default: return false;
  }
}

bool is_immediate(const job_record_t &job) {
  if (job.batch_flag || !job.details || !job.details->submit_line) return false;
  const std::string_view line = job.details->submit_line;
  return line.find(" -I") != std::string_view::npos || line.find(" --immediate") != std::string_view::npos;
}

int copies_of(const job_record_t &job) {
  const job_array_struct_t *array = job.array_recs;
  if (!array || array->task_cnt == 0) return 1;
  std::uint32_t copies = array->task_cnt;
  if (array->max_run_tasks)
    copies = array->tot_run_tasks >= array->max_run_tasks
                 ? 0
                 : std::min(copies, array->max_run_tasks - array->tot_run_tasks);
  return static_cast<int>(std::min<std::uint32_t>(copies, 10000));
}

} // namespace harmony
