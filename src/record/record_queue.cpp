#include "src/record/record_queue.h"

#include <utility>

namespace harmony {
namespace {

std::size_t memory_of_bits(const Bits &bits) { return bits.words().size() * sizeof(std::uint64_t); }

std::size_t memory_of_tasks(const std::vector<TasksAt> &all) {
  std::size_t bytes = all.size() * sizeof(TasksAt);
  for (const TasksAt &tasks : all) {
    bytes += tasks.node.size() + memory_of_bits(tasks.cores) + memory_of_bits(tasks.gpus);
    for (const TasksAt::InDomain &in : tasks.domains) bytes += sizeof in + memory_of_bits(in.gpus);
  }
  return bytes;
}

std::size_t memory_of_neighbours(const std::vector<Neighbour> &all) {
  std::size_t bytes = all.size() * sizeof(Neighbour);
  for (const Neighbour &neighbour : all) bytes += neighbour.type.size() + memory_of_tasks(neighbour.on);
  return bytes;
}

std::size_t more_of(const NodeRecord &record) {
  return record.cluster.size() + record.node.size() + record.topology.size();
}
std::size_t more_of(const StartRecord &record) {
  return record.id.cluster.size() + record.components.size() * sizeof(std::uint32_t) + record.user.size() +
         record.type.size() + record.policy.size() + record.why_stock.size() + record.model.size() +
         memory_of_tasks(record.placement) + memory_of_neighbours(record.neighbours);
}
std::size_t more_of(const IntervalRecord &record) {
  return record.id.cluster.size() + record.type.size() + memory_of_neighbours(record.neighbours);
}
std::size_t more_of(const EndRecord &record) {
  return record.id.cluster.size() + record.type.size() + record.state.size();
}
std::size_t more_of(const ShadowRecord &record) {
  return record.id.cluster.size() + record.type.size() + record.policy.size() + record.model.size() +
         record.verdict.size() + record.reason.size() + memory_of_tasks(record.plan);
}
std::size_t more_of(const UsageRecord &record) {
  return record.id.cluster.size() + record.usage.step.size() + record.usage.node.size() +
         record.usage.gpus.size() * sizeof(GpuUsage);
}
std::size_t more_of(const GapRecord &record) { return record.cluster.size() + record.why.size(); }

} // namespace

std::size_t memory_of(const Record &record) {
  return sizeof(Record) + std::visit([](const auto &each) { return more_of(each); }, record);
}

void RecordQueue::limit(std::size_t lines, std::size_t bytes) {
  most_records_ = lines;
  most_bytes_ = bytes;
}

void RecordQueue::push(Record &&record, std::size_t bytes) {
  records_.push_back({std::move(record), bytes});
  bytes_ += bytes;
  ++put_;
}

// Not counted in bytes: there is one at most for each time that the queue was full.
void RecordQueue::push_gap() {
  gap_.lost = std::exchange(untold_, 0);
  push(std::move(gap_), 0);
}

bool RecordQueue::put(Record &&record, std::size_t bytes, const GapRecord &gap) {
  if (full_ && records_.size() <= most_records_ / 2 && bytes_ <= most_bytes_ / 2) full_ = false;
  if (!full_) full_ = records_.size() >= most_records_ || bytes_ + bytes > most_bytes_;
  if (full_) return refuse(gap), false;
  if (untold_ > 0) push_gap();
  push(std::move(record), bytes);
  return true;
}

void RecordQueue::refuse(const GapRecord &gap) {
  if (untold_++ == 0) gap_ = gap;
  ++lost_;
}

std::optional<Record> RecordQueue::take() {
  if (records_.empty() && untold_ > 0) push_gap();
  if (records_.empty()) return std::nullopt;
  Record record = std::move(records_.front().record);
  bytes_ -= records_.front().bytes;
  records_.pop_front();
  return record;
}

void RecordQueue::lose_taken(const GapRecord &gap) {
  refuse(gap);
  ++settled_;
}

void RecordQueue::drop_until(std::uint64_t put, const GapRecord &gap) {
  for (; !records_.empty() && settled_ < put; records_.pop_front()) {
    bytes_ -= records_.front().bytes;
    lose_taken(gap);
  }
}

} // namespace harmony
