// What fits on one node, and exactly where on it: our own arithmetic of cores, GPUs and memory, in Slurm's terms. No
// policy here; whatever a policy proposes goes through these functions.
#pragma once

#include "src/values/gang.h"
#include "src/values/plan.h"
#include "src/values/snapshot.h"

#include <optional>
#include <string>
#include <vector>

namespace harmony {

// GPUs that one worker or one PS of the component holds; a node of a --gpus-per-node job holds per_node, whatever its
// tasks.
int gpus_per_worker(const Component &component);
int gpus_per_ps(const Component &component);

// GPUs and cores that so many tasks take on a node.
int gpus_needed(const Component &component, int workers, int ps);
int cores_needed(const NodeState &node, const Component &component, int workers, int ps);

// GPUs that have to be free on a node though its tasks may hold none: Slurm takes no node for a job with --gpus that
// has not one to offer, even for a PS.
int least_free_gpus(const Component &component);

// Whether the node's GPU is of the model in gres.conf's words (empty: any); one that has no name there is of none.
bool is_of_model(const NodeState &node, const std::string &model, int gpu);

// GPUs of the node that are free and of the model the component asks for; lost ones are not among them.
Bits suitable_gpus(const NodeState &node, const Component &component);

// Whether so many tasks of the component fit on the node now.
bool fits(const NodeState &node, const Component &component, int workers, int ps, bool memory_counts);

// The most workers that fit beside `ps` PS, and the most PS beside `workers` workers; never more than the component
// has. -1 if not even the other role fits.
int most_workers(const NodeState &node, const Component &component, int ps, bool memory_counts);
int most_ps(const NodeState &node, const Component &component, int workers, bool memory_counts);

// What keeps the node from taking even one task of the component, in a word or two ("busy GPUs", "memory", "down");
// empty if nothing does. These are the words of Masked::by.
std::string what_masks(const NodeState &node, int index, const Component &component, bool memory_counts);

// Chooses the cores and GPUs for so many tasks: GPUs of a task below one PCIe switch where possible, the gang's GPUs
// near each other, the choice that leaves the largest groups of GPUs whole (least fragmenting), cores of the socket of
// the GPUs. Nothing if they do not fit.
//
// `workers_in`, by domain of the node's topology: the GPUs of so many workers are right below that domain, those of the
// other tasks anywhere; nothing if a domain has too few. It says nothing about workers that hold no GPUs of their own:
// none at all, or parts of --gpus-per-node that do not come out even.
std::optional<Placement> arrange(const NodeState &node, int index, const Component &component, int workers, int ps,
                                 bool memory_counts, const std::vector<int> &workers_in = {});

} // namespace harmony
