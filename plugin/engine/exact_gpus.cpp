#include "plugin/slurm_version.h"

#include "plugin/engine/exact_gpus.h"

#include "plugin/engine/slurm_values.h"

#include <fmt/format.h>

extern "C" {
#include "src/common/node_conf.h"
}

namespace harmony {
namespace {

gres_job_state_t *selected_gpus(const job_record_t &job) {
  gres_job_state_t *found = nullptr;
  for_each<gres_state_t>(job.gres_list_req, [&found](gres_state_t &gres) {
    if (is_gpu(gres)) found = static_cast<gres_job_state_t *>(gres.gres_data);
  });
  return found;
}

std::uint64_t chosen_on(const gres_job_state_t &gpus, int node) {
  if (gpus.gres_bit_select && gpus.gres_bit_select[node])
    return static_cast<std::uint64_t>(bit_set_count(gpus.gres_bit_select[node]));
  return gpus.gres_cnt_node_select ? gpus.gres_cnt_node_select[node] : 0;
}

bool taken(bitstr_t *bits, int gpu) { return bits && gpu < bit_size(bits) && bit_test(bits, gpu); }

// Not in use, whole or in shares, and of the type that the job asks for now.
bool is_free(const gres_node_state_t &node, const gres_job_state_t &job, int gpu) {
  if (gpu >= bit_size(node.gres_bit_alloc) || bit_test(node.gres_bit_alloc, gpu)) return false;
  if (node.alt_gres_ns && taken(node.alt_gres_ns->gres_bit_alloc, gpu)) return false;
  for (int i = 0; job.type_id && node.topo_type_id && node.topo_gres_bitmap && i < node.topo_cnt; ++i)
    if (taken(node.topo_gres_bitmap[i], gpu) && node.topo_type_id[i] != job.type_id) return false;
  return true;
}

// All or nothing: every node is checked before anything is changed.
std::string problem_with(const gres_job_state_t &gpus, const std::vector<Placement> &placements) {
  std::uint64_t planned = 0, chosen = 0;
  for (const Placement &each : placements) {
    if (each.node < 0 || static_cast<std::uint32_t>(each.node) >= gpus.total_node_cnt || each.node >= node_record_count)
      return fmt::format("node {} is gone", each.node_name);
    const node_record_t *node = node_record_table_ptr[each.node];
    const gres_node_state_t *state = node ? gpu_state(*node) : nullptr;
    const std::uint64_t count = static_cast<std::uint64_t>(each.gpus.count());
    planned += count;
    chosen += chosen_on(gpus, each.node);
    if (!gpus.gres_per_job && count != chosen_on(gpus, each.node))
      return fmt::format("{} GPUs are planned on {}, Slurm gives {}", count, each.node_name,
                         chosen_on(gpus, each.node));
    if (count == 0) continue;
    if (!state || !state->gres_bit_alloc) return fmt::format("GPUs of {} have no device files", each.node_name);
    for (const int gpu : harmony::each(each.gpus))
      if (!is_free(*state, gpus, gpu)) return fmt::format("GPU {} of {} is not free for it", gpu, each.node_name);
  }
  // Stock gives every node of a job with --gpus one at least, and so more than was asked for where PS stand apart.
  if (planned != chosen && planned != gpus.gres_per_job)
    return fmt::format("{} GPUs are planned, Slurm gives {}", planned, chosen);
  return "";
}

void choose_on(gres_job_state_t &gpus, const Placement &placement) {
  const int node = placement.node;
  const node_record_t *record = node_record_table_ptr[node];
  const gres_node_state_t *state = gpu_state(*record);
  bitstr_t *&bits = gpus.gres_bit_select[node];
  if (!bits && state) bits = bit_alloc(bit_size(state->gres_bit_alloc));
  if (bits) {
    bit_clear_all(bits);
    for (const int gpu : each(placement.gpus)) bit_set(bits, gpu);
  }
  if (gpus.gres_cnt_node_select) gpus.gres_cnt_node_select[node] = static_cast<std::uint64_t>(placement.gpus.count());
}

} // namespace

std::string choose_exact_gpus(job_record_t &job, const std::vector<Placement> &placements) {
  gres_job_state_t *gpus = selected_gpus(job);
  if (!gpus) return "";
  if (!gpus->gres_bit_select) return "Slurm chose no GPUs by number";
  std::string problem = problem_with(*gpus, placements);
  if (!problem.empty()) return problem;
  for (const Placement &each : placements) choose_on(*gpus, each);
  return "";
}

} // namespace harmony
