#include "src/encode/job_features.h"

#include "src/encode/scale.h"
#include "src/encode/schema.h"
#include "src/plan/fit.h"

#include <algorithm>
#include <tuple>

namespace harmony {
namespace {

double memory_per_task(const Component &component) {
  const auto mb = [](std::uint64_t count) { return static_cast<double>(count); };
  if (component.memory_per_cpu_mb) return mb(component.memory_per_cpu_mb) * component.cpus_per_task;
  if (component.memory_per_gpu_mb) return mb(component.memory_per_gpu_mb) * gpus_per_worker(component);
  const int nodes = std::max(1, component.min_nodes);
  return mb(component.memory_per_node_mb) * nodes / std::max(1, component.tasks());
}

// The part that does the work: of a hetjob, that with most GPUs, then tasks.
const Component &main_part(const Gang &gang) {
  const auto size = [](const Component &c) {
    return std::make_pair(c.gpus.per_job + c.gpus.per_task * c.tasks() + c.gpus.per_node * c.min_nodes, c.tasks());
  };
  return *std::max_element(gang.components.begin(), gang.components.end(),
                           [&](const Component &a, const Component &b) { return size(a) < size(b); });
}

void tell_of_demand(std::vector<float> &row, const Gang &gang) {
  namespace column = job_column;
  int min_nodes = 0, whole = 0;
  for (const Component &component : gang.components) {
    min_nodes = std::max(min_nodes, component.min_nodes);
    whole |= component.whole_nodes;
  }
  row[column::workers] = scaled_log(gang.workers(), 64);
  row[column::ps] = scaled_log(gang.ps(), 64);
  row[column::gpus] = scaled_log(gang.gpus(), 1024);
  row[column::whole_nodes] = flag(whole);
  row[column::min_nodes] = scaled_log(min_nodes, 256);
  row[column::components] = scaled_log(static_cast<double>(gang.components.size()), 8);
  if (!gang.components.empty()) {
    const Component &part_of_it = main_part(gang);
    row[column::gpus_per_worker] =
        scaled_log(part_of_it.gpus.per_node ? part_of_it.gpus.per_node : gpus_per_worker(part_of_it), 16);
    row[column::cpus_per_task] = scaled_log(part_of_it.cpus_per_task, 256);
    row[column::memory_per_task] = scaled_log(memory_per_task(part_of_it), 1 << 20);
  }
  row[column::model_size] = scaled_log(gang.model_kb / 1024.0, 100000);
  row[column::model_size_known] = flag(gang.model_kb > 0);
  row[column::time_limit] = scaled_log(gang.time_limit_min, 43200);
}

void tell_of_cluster(std::vector<float> &row, const ClusterTotals &totals, std::time_t now) {
  namespace column = job_column;
  row[column::free_gpus] = part(static_cast<double>(totals.free_gpus), static_cast<double>(totals.gpus));
  row[column::free_nodes] = part(totals.free_nodes, totals.nodes);
  row[column::broken_gpus] = part(static_cast<double>(totals.broken_gpus), static_cast<double>(totals.free_gpus));
  row[column::distributed_nodes] = part(totals.distributed_nodes, totals.nodes);
  row[column::running] = scaled_log(totals.running, 4096);
  row[column::next_end] = totals.next_end ? scaled_log(static_cast<double>(totals.next_end - now), a_week_s) : 1;
}

} // namespace

QueuePressure pressure_of(const Snapshot &snapshot) {
  QueuePressure pressure;
  for (const Gang &gang : snapshot.pending) {
    pressure.gangs += std::max(1, gang.copies);
    pressure.gpus += static_cast<long>(gang.gpus()) * std::max(1, gang.copies);
  }
  return pressure;
}

QueueByLimit::QueueByLimit(const Snapshot &snapshot) {
  upto_.reserve(snapshot.pending.size());
  for (const Gang &gang : snapshot.pending) {
    const int copies = std::max(1, gang.copies);
    upto_.push_back({gang.time_limit_min,
                     {copies, static_cast<long>(gang.gpus()) * copies},
                     static_cast<double>(gang.time_limit_min) * copies});
  }
  std::sort(upto_.begin(), upto_.end(), [](const Upto &a, const Upto &b) {
    return std::tie(a.limit_min, a.queue.gpus) < std::tie(b.limit_min, b.queue.gpus);
  });
  for (std::size_t i = 1; i < upto_.size(); ++i) {
    upto_[i].queue.gangs += upto_[i - 1].queue.gangs;
    upto_[i].queue.gpus += upto_[i - 1].queue.gpus;
    upto_[i].limits += upto_[i - 1].limits;
  }
}

std::vector<QueueByLimit::Upto>::const_iterator QueueByLimit::first_not_shorter(std::uint32_t time_limit_min) const {
  return std::lower_bound(upto_.begin(), upto_.end(), time_limit_min,
                          [](const Upto &each, std::uint32_t limit) { return each.limit_min < limit; });
}

QueuePressure QueueByLimit::shorter_than(std::uint32_t time_limit_min) const {
  const auto first = first_not_shorter(time_limit_min);
  return first == upto_.begin() ? QueuePressure() : std::prev(first)->queue;
}

double QueueByLimit::displaced(std::uint32_t time_limit_min, long free, long taken) const {
  const auto shorter = first_not_shorter(time_limit_min);
  const auto within = [&](long gpus) {
    const auto end = std::upper_bound(upto_.begin(), shorter, gpus,
                                      [](long most, const Upto &each) { return most < each.queue.gpus; });
    return end == upto_.begin() ? Upto() : *std::prev(end);
  };
  const Upto before = within(free), after = within(free - taken);
  return std::max(0.0, before.queue.gangs - after.queue.gangs -
                           (before.limits - after.limits) / std::max<std::uint32_t>(1, time_limit_min));
}

JobRow job_row(const Encoder &encoder, const Gang &gang, const Circumstances &circumstances) {
  namespace column = job_column;
  JobRow row;
  row.type = encoder.types().of(gang.type);
  row.features.assign(column::count, 0);
  const std::time_t now = encoder.cluster().now();
  tell_of_demand(row.features, gang);
  tell_of_cluster(row.features, encoder.totals(), now);
  row.features[column::nodes_at_least] = scaled_log(circumstances.nodes_at_least, 256);
  row.features[column::type_known] = flag(row.type > 0);
  row.features[column::waited] = part(static_cast<double>(now - gang.eligible_since), circumstances.max_wait_s);
  row.features[column::may_wait] = flag(circumstances.may_wait);
  row.features[column::queue_gangs] = scaled_log(circumstances.queue.gangs, 4096);
  row.features[column::queue_gpus] =
      part(static_cast<double>(circumstances.queue.gpus), 4.0 * static_cast<double>(encoder.totals().gpus));
  return row;
}

} // namespace harmony
