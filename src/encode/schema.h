// What a model sees, column by column. A change of any name, meaning or scale here is a new schema_version: a model is
// refused unless it was trained on this very one. `harmony model features` prints these tables.
//
// All values are finite and within [0, 1]. Counts are on a logarithmic scale, log(1 + x) / log(1 + cap), at most 1; the
// cap stands in brackets. Loads are estimates from what jobs declared, in units of "one worker of a large model";
// undeclared model sizes count as 100 MB.
#pragma once

#include "src/infer/model.h"
#include "src/store/manifest.h"

#include <string>
#include <vector>

namespace harmony {

constexpr int schema_version = 3;

// clang-format off
#define HARMONY_JOB_FEATURES(X) \
  X(workers, "workers of the gang [64]") \
  X(ps, "parameter servers of the gang [64]") \
  X(is_ps, "1: a PS is to be placed, 0: a worker; 0 for whole gangs") \
  X(gpus, "GPUs of the gang [1024]") \
  X(gpus_per_worker, "GPUs that one worker holds, or a node of a job with GPUs by node [16]") \
  X(cpus_per_task, "CPUs that one task holds [256]") \
  X(memory_per_task, "MB that one task holds [1048576]") \
  X(whole_nodes, "1: it asks for its nodes alone") \
  X(min_nodes, "nodes that it asks for at least [256]") \
  X(nodes_at_least, "nodes that it takes at least, were the cluster empty [256]; of a hetjob its first part") \
  X(components, "parts of a hetjob, 1 for one job [8]") \
  X(model_size, "declared parameters in MB [100000]") \
  X(model_size_known, "1: they were declared") \
  X(time_limit, "minutes [43200]") \
  X(type_known, "1: the model knows the job's type") \
  X(waited, "how long it could have started, in parts of MaxWait") \
  X(may_wait, "1: it may be told to wait") \
  X(queue_gangs, "gangs that waited when the round began, this one among them [4096]") \
  X(queue_gpus, "GPUs that they ask for, in parts of four times the cluster's") \
  X(free_gpus, "part of the cluster's GPUs that is free") \
  X(free_nodes, "part of its nodes without any job") \
  X(broken_gpus, "part of its free GPUs that lies on nodes with jobs") \
  X(distributed_nodes, "part of its nodes with a distributed job") \
  X(running, "jobs that run [4096]") \
  X(next_end, "seconds until the next job ends by its limit [604800]; 1 if none runs")

#define HARMONY_CANDIDATE_FEATURES(X) \
  X(gpus, "GPUs of the node [16]") \
  X(free_gpus, "part of them that is free") \
  X(free_cores, "part of its cores that is free") \
  X(free_memory, "part of its memory that is free, in 64ths") \
  X(free_domains, "part of its domains with GPUs that is all free") \
  X(largest_domain, "free GPUs of the domain with most, in parts of the node's") \
  X(room, "tasks of the role that the node still takes, in parts of those that the part of the gang has") \
  X(left_after, "part of its GPUs that is free after this task") \
  X(domain_gpus, "GPUs of the domain [16]; the node's where no domain is chosen") \
  X(domain_free, "part of them that is free") \
  X(domain_left_after, "part of them that is free after this task") \
  X(in_domain, "1: the task's GPUs lie in the one domain") \
  X(tenants, "other jobs on the node [16]") \
  X(distributed, "distributed ones among them [8]") \
  X(pcie_load, "their load on the domain's PCIe switch or bridge [16]") \
  X(bridge_load, "their load on the host bridge above it [16]") \
  X(link_load, "their load between the node's sockets [16]") \
  X(nic_load, "their load on its network [16]") \
  X(cpu_load, "part of its cores that they hold") \
  X(disk_load, "their workers, each of which reads its data [16]") \
  X(nic_speed, "its network cards together, Mbit/s [400000]; 0 if unknown") \
  X(next_end, "seconds until the first of them ends by its limit [604800], in 32nds; 1 if there is none") \
  X(weight, "its Weight in slurm.conf [1000]") \
  X(workers_here, "part of the gang's workers placed on the node; of a hetjob those of this part") \
  X(ps_here, "part of its PS placed there") \
  X(workers_in_domain, "part of the workers of this part placed in the domain") \
  X(new_node, "1: the gang has no task on the node yet")

#define HARMONY_GANG_FEATURES(X) \
  X(wait, "1: it waits; columns below that are not of a wait are 0 then") \
  X(nodes, "nodes it spans [256]") \
  X(nodes_beyond, "part of them beyond what it takes at least") \
  X(speed, "its predicted speed, relative to the best it could have") \
  X(slowdown, "1 / speed - 1, in parts of 2") \
  X(doubt, "how far the opinions of the reward model on its speed lie apart") \
  X(harm, "GPU time that its neighbours lose by it, in parts of twice its own") \
  X(delay, "how much later its neighbours end by it, all jobs together, in parts of twice its own usual time") \
  X(queue_delay, "how much later those that wait start because of slowdown and of what neighbours lose: GPU time lost, times gangs that wait, in parts of the cluster's GPUs and four of its own usual times") \
  X(displaced, "gangs that wait, take less time and could start now but not beside it, each by how much shorter it is [16]") \
  X(lost_by_queue, "slowdown and harm together, in parts of 2, times the gangs that wait, in parts of 32") \
  X(left_over, "GPUs that stay free on its nodes, in parts of those nodes' GPUs") \
  X(nodes_broken, "part of its nodes that had no job and keep free GPUs") \
  X(domains, "domains that its GPUs lie in, in parts of its GPUs") \
  X(distributed_met, "part of its nodes with another distributed job; 0 if it spans one node") \
  X(nic_load, "other jobs' load on the network of its worst node [16]") \
  X(pcie_load, "other jobs' load on the PCIe of its worst domain [16]") \
  X(cpu_load, "part of the cores of its worst node that others hold") \
  X(ps_with_workers, "part of its PS on nodes with its workers; 1 without PS") \
  X(ps_nodes, "part of its nodes that hold PS") \
  X(free_after, "part of the cluster's GPUs that is free afterwards") \
  X(next_end, "seconds until the first job on its nodes ends [604800], in 32nds; of a wait, in the cluster; 1 if there is none") \
  X(wait_next_end, "of a wait: time until a job usually ends, in parts of twice the gang's own usual time") \
  X(wait_opening, "of a wait: time until the fewest nodes usually have room for it and no other distributed job, likewise; of a gang on one node, room") \
  X(wait_clear, "of a wait: 1 if they have it now") \
  X(wait_age, "of a wait: time it could have started for, in parts of its own limit") \
  X(wait_waited, "of a wait: the same, in parts of MaxWait") \
  X(wait_queue, "of a wait: gangs that wait, in parts of 32") \
  X(wait_shorter, "of a wait: part of them with a shorter limit") \
  X(wait_shorter_gpus, "of a wait: GPUs that those ask for, in parts of the free ones") \
  X(wait_limit, "of a wait: its own limit, minutes [43200]") \
  X(wait_gpus, "of a wait: its GPUs, in parts of the free ones") \
  X(wait_size, "of a wait: its GPUs, in parts of the cluster's") \
  X(wait_spans, "of a wait: nodes that it takes at least [256]") \
  X(wait_free, "of a wait: part of the cluster's GPUs that is free")
// clang-format on

#define HARMONY_COLUMN(name, meaning) name,
namespace job_column {
enum Column { HARMONY_JOB_FEATURES(HARMONY_COLUMN) count };
}
namespace candidate_column {
enum Column { HARMONY_CANDIDATE_FEATURES(HARMONY_COLUMN) count };
}
namespace gang_column {
enum Column { HARMONY_GANG_FEATURES(HARMONY_COLUMN) count };
}
#undef HARMONY_COLUMN

struct Feature {
  std::string name;
  std::string meaning;
};

// The columns for a model that knows these types. Behind the columns above come, for "unknown" and each type, how much
// of the node and of the domain jobs of that type hold: node_type:NAME, domain_type:NAME; of whole gangs met_type:NAME.
std::vector<Feature> job_features();
std::vector<Feature> candidate_features(const std::vector<std::string> &types);
std::vector<Feature> gang_features(const std::vector<std::string> &types);

ModelShape shape_for(const std::vector<std::string> &types);

// Why a model with this manifest cannot be asked by this encoder, in one line; empty if it can.
std::string schema_problem(const Manifest &manifest);

} // namespace harmony
