#include "plugin/slurm_version.h"

#include "plugin/engine/carry_out.h"

#include "src/values/clock.h"
#include "plugin/engine/exact_gpus.h"
#include "plugin/engine/job_reader.h"
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

bool offered(const JobTest &call, const std::vector<int> &shared, int node) {
  return bit_test(call.nodes, node) || std::find(shared.begin(), shared.end(), node) != shared.end();
}

bitoff_t all_cores() {
  return static_cast<bitoff_t>(cr_get_coremap_offset(static_cast<std::uint32_t>(node_record_count)));
}

// Asks stock whether the job can start now; the future is not looked into, nor anybody preempted.
int ask_about_now(StockJobTest stock, JobTest call, std::int64_t &took) {
  const std::uint64_t flags = call.job->bit_flags;
  call.preemptee_candidates = nullptr;
  if (call.mode == SELECT_MODE_WILL_RUN) call.job->bit_flags |= TEST_NOW_ONLY;
  const std::int64_t begin = now_ns();
  const int answer = ask(stock, call);
  took = now_ns() - begin;
  call.job->bit_flags = flags;
  return answer;
}

std::string unoffered(const JobTest &call, const std::vector<Placement> &placements, const std::vector<int> &shared) {
  if (placements.size() < call.min_nodes || placements.size() > call.max_nodes)
    return fmt::format("Slurm wants {} to {} nodes for it now", call.min_nodes, call.max_nodes);
  if (call.excluded_cores && bit_size(call.excluded_cores) < all_cores())
    return "a reservation is older than some nodes";
  for (const Placement &each : placements) {
    if (std::string problem = gone(each); !problem.empty()) return problem;
    if (!offered(call, shared, each.node)) return fmt::format("Slurm does not offer node {} to it", each.node_name);
    const auto first = static_cast<bitoff_t>(cr_get_coremap_offset(static_cast<std::uint32_t>(each.node)));
    for (const int core : harmony::each(each.cores))
      if (call.excluded_cores && bit_test(call.excluded_cores, first + core))
        return fmt::format("core {} of node {} is reserved", core, each.node_name);
  }
  return "";
}

// Every core of the planned nodes is forbidden but the planned ones.
OwnBits narrowed_cores(const JobTest &call, const std::vector<Placement> &placements) {
  OwnBits cores(call.excluded_cores ? bit_copy(call.excluded_cores) : bit_alloc(all_cores()));
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

CarryResult carry_out(const JobTest &call, StockJobTest stock, const std::vector<Placement> &placements,
                      const std::vector<int> &shared) {
  CarryResult result;
  result.why = unoffered(call, placements, shared);
  if (!result.why.empty()) return result;
  const OwnBits nodes = narrowed_nodes(call, placements);
  // Where Slurm allocates whole sockets, single cores cannot be chosen.
  const bool whole_nodes = takes_whole_nodes(*call.job);
  const bool by_core = !whole_nodes && !(slurm_conf.select_type_param & CR_SOCKET);
  const OwnBits cores(by_core ? narrowed_cores(call, placements).release() : nullptr);
  JobTest narrowed = call;
  narrowed.nodes = nodes.get();
  narrowed.min_nodes = narrowed.max_nodes = narrowed.req_nodes = static_cast<std::uint32_t>(placements.size());
  if (cores) narrowed.excluded_cores = cores.get();
  const OwnBits wanted(bit_copy(nodes.get()));
  result.carried = Carried::refused;
  if (ask_about_now(stock, narrowed, result.stock_ns) != SLURM_SUCCESS) {
    result.why = "stock does not start it on exactly the planned nodes and cores";
    return result;
  }
  if (!bit_equal(nodes.get(), wanted.get())) {
    result.why = "stock would use only some of the planned nodes";
    return result;
  }
  result.carried = Carried::out;
  bit_copybits(call.nodes, nodes.get());
  if (call.mode == SELECT_MODE_RUN_NOW) {
    result.tasks = other_tasks(*call.job, placements);
    if (!whole_nodes && result.tasks.empty()) result.gpus = choose_exact_gpus(*call.job, placements);
  }
  return result;
}

Trial try_stock(const JobTest &call, StockJobTest stock) {
  Trial trial;
  const OwnBits nodes(bit_copy(call.nodes));
  const std::time_t start = call.job->start_time;
  JobTest test = call;
  test.nodes = nodes.get();
  test.mode = SELECT_MODE_WILL_RUN;
  trial.starts = ask_about_now(stock, test, trial.stock_ns) == SLURM_SUCCESS;
  call.job->start_time = start;
  return trial;
}

} // namespace harmony
