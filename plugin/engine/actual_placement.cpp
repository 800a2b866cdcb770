#include "plugin/slurm_version.h"

#include "plugin/engine/actual_placement.h"

#include "plugin/engine/slurm_values.h"

#include <map>

extern "C" {
#include "src/common/job_resources.h"
#include "src/common/node_conf.h"
}

namespace harmony {
namespace {

// The job's GPUs on its i-th node.
Bits gpus_on(const job_record_t &job, std::uint32_t i) {
  Bits gpus;
  for_each<gres_state_t>(job.gres_list_alloc, [&](gres_state_t &gres) {
    const auto *state = static_cast<const gres_job_state_t *>(gres.gres_data);
    if (!is_gpu(gres) || !state->gres_bit_alloc || i >= state->node_cnt || !state->gres_bit_alloc[i]) return;
    gpus.join(bits_of(state->gres_bit_alloc[i]));
  });
  return gpus;
}

template <class Body> void for_each_node(const job_record_t &job, Body body) {
  const job_resources_t *held = job.job_resrcs;
  if (!held || !held->node_bitmap) return;
  std::uint32_t i = 0;
  const Bits nodes = bits_of(held->node_bitmap);
  for (const int node : each(nodes)) {
    if (i >= held->nhosts) return;
    body(node, i, *held);
    ++i;
  }
}

} // namespace

std::vector<ActualNode> actual_nodes(const job_record_t &job) {
  std::vector<ActualNode> nodes;
  for_each_node(job, [&](int node, std::uint32_t i, const job_resources_t &held) {
    ActualNode actual;
    if (node < node_record_count && node_record_table_ptr[node]) actual.node = text(node_record_table_ptr[node]->name);
    const Bits gpus = gpus_on(job, i);
    for (const int gpu : each(gpus)) actual.gpus.push_back(gpu);
    actual.cpus = held.cpus ? held.cpus[i] : 0;
    actual.tasks = held.tasks_per_node ? held.tasks_per_node[i] : 0;
    nodes.push_back(std::move(actual));
  });
  return nodes;
}

bool follows(const job_record_t &job, const std::vector<Placement> &placements) {
  std::map<int, Bits> planned;
  for (const Placement &each : placements) planned[each.node] = each.gpus;
  std::size_t nodes = 0;
  bool same = true;
  for_each_node(job, [&](int node, std::uint32_t i, const job_resources_t &) {
    const auto found = planned.find(node);
    const Bits actual = gpus_on(job, i);
    same = same && found != planned.end() && found->second.contains(actual) && actual.contains(found->second);
    ++nodes;
  });
  return same && nodes == planned.size();
}

} // namespace harmony
