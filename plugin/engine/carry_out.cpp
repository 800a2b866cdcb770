#include "plugin/slurm_version.h"

#include "plugin/engine/carry_out.h"

#include "plugin/engine/clock.h"
#include "plugin/engine/exact_gpus.h"
#include "plugin/engine/slurm_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

extern "C" {
#include "src/common/job_resources.h"
#include "src/common/node_conf.h"
}

namespace harmony {
namespace {

struct FreeBits {
  void operator()(bitstr_t *bits) const { slurm_bit_free(&bits); }
};
using OwnBits = std::unique_ptr<bitstr_t, FreeBits>;

std::string gone(const Placement &placement) {
  const node_record_t *node =
      placement.node < node_record_count && placement.node >= 0 ? node_record_table_ptr[placement.node] : nullptr;
  return node && text(node->name) == placement.node_name && node->tot_cores == placement.cores.size()
             ? ""
             : fmt::format("node {} is gone or another one", placement.node_name);
}

// Backfill takes the nodes of a hetjob's other components away from each; those the plan shares come back.
bool offered(const JobTest &call, const PlannedJob &planned, int node) {
  if (bit_test(call.nodes, node)) return true;
  const auto &shared = planned.gang_nodes;
  return planned.hetjob() && std::find(shared.begin(), shared.end(), node) != shared.end() &&
         bit_test(avail_node_bitmap, node) && !bit_test(cg_node_bitmap, node);
}

std::string unoffered(const JobTest &call, const PlannedJob &planned, const std::vector<Placement> &placements) {
  if (placements.size() < call.min_nodes || placements.size() > call.max_nodes)
    return fmt::format("Slurm wants {} to {} nodes for it now", call.min_nodes, call.max_nodes);
  for (const Placement &each : placements) {
    if (std::string problem = gone(each); !problem.empty()) return problem;
    if (!offered(call, planned, each.node)) return fmt::format("Slurm does not offer node {} to it", each.node_name);
    const auto first = static_cast<bitoff_t>(cr_get_coremap_offset(static_cast<std::uint32_t>(each.node)));
    for (const int core : harmony::each(each.cores))
      if (call.excluded_cores && bit_test(call.excluded_cores, first + core))
        return fmt::format("core {} of node {} is reserved", core, each.node_name);
  }
  return "";
}

// Every core of the planned nodes is forbidden but the planned ones.
OwnBits narrowed_cores(const JobTest &call, const std::vector<Placement> &placements) {
  const auto all = static_cast<bitoff_t>(cr_get_coremap_offset(static_cast<std::uint32_t>(node_record_count)));
  OwnBits cores(call.excluded_cores ? bit_copy(call.excluded_cores) : bit_alloc(all));
  for (const Placement &each : placements) {
    const auto first = static_cast<bitoff_t>(cr_get_coremap_offset(static_cast<std::uint32_t>(each.node)));
    bit_nset(cores.get(), first, first + each.cores.size() - 1);
    for (const int core : harmony::each(each.cores)) bit_clear(cores.get(), first + core);
  }
  return cores;
}

OwnBits narrowed_nodes(const JobTest &call, const std::vector<Placement> &placements) {
  OwnBits nodes(bit_alloc(bit_size(call.nodes)));
  for (const Placement &each : placements) bit_set(nodes.get(), each.node);
  return nodes;
}

// How stock spread the tasks, if not as planned; only when it says.
std::string other_tasks(const job_record_t &job, const std::vector<Placement> &placements) {
  const job_resources_t *held = job.job_resrcs;
  if (!held || !held->tasks_per_node || held->nhosts != placements.size()) return "";
  std::vector<const Placement *> by_node;
  for (const Placement &each : placements) by_node.push_back(&each);
  std::sort(by_node.begin(), by_node.end(), [](auto *one, auto *other) { return one->node < other->node; });
  for (std::size_t i = 0; i < by_node.size(); ++i)
    if (held->tasks_per_node[i] != by_node[i]->tasks())
      return fmt::format("{} tasks on {} where {} are planned", held->tasks_per_node[i], by_node[i]->node_name,
                         by_node[i]->tasks());
  return "";
}

} // namespace

CarryResult carry_out(const JobTest &call, StockJobTest stock, const PlannedJob &planned,
                      const std::vector<Placement> &placements, bool whole_nodes) {
  CarryResult result;
  result.why = unoffered(call, planned, placements);
  if (!result.why.empty()) return result;
  const OwnBits nodes = narrowed_nodes(call, placements);
  // Where Slurm allocates whole sockets, single cores cannot be chosen.
  const bool by_core = !whole_nodes && !(slurm_conf.select_type_param & CR_SOCKET);
  const OwnBits cores(by_core ? narrowed_cores(call, placements).release() : nullptr);
  JobTest narrowed = call;
  narrowed.nodes = nodes.get();
  narrowed.min_nodes = narrowed.max_nodes = narrowed.req_nodes = static_cast<std::uint32_t>(placements.size());
  narrowed.preemptee_candidates = nullptr;
  if (cores) narrowed.excluded_cores = cores.get();
  const OwnBits wanted(bit_copy(nodes.get()));
  result.carried = Carried::refused;
  const std::int64_t begin = now_ns();
  const int answer = ask(stock, narrowed);
  result.stock_ns = now_ns() - begin;
  if (answer != SLURM_SUCCESS) {
    result.why = "stock does not start it on exactly the planned nodes and cores";
    return result;
  }
  if (!bit_equal(nodes.get(), wanted.get())) {
    result.why = "stock would use only some of the planned nodes";
    return result;
  }
  if (call.mode == SELECT_MODE_WILL_RUN && call.job->start_time > time(nullptr)) {
    result.why = "the planned nodes and cores are not free now";
    return result;
  }
  result.carried = Carried::out;
  bit_copybits(call.nodes, nodes.get());
  if (call.mode == SELECT_MODE_RUN_NOW) {
    result.tasks = other_tasks(*call.job, placements);
    if (!whole_nodes) result.gpus = choose_exact_gpus(*call.job, placements);
  }
  return result;
}

} // namespace harmony
