#include "plugin/slurm_version.h"

#include "plugin/engine/eligible_nodes.h"

#include "plugin/engine/slurm_values.h"

#include <fmt/format.h>

namespace harmony {
namespace {

Bits nodes_with(const char *feature) {
  Bits nodes(node_record_count);
  for_each<node_feature_t>(active_feature_list, [&](node_feature_t &each) {
    if (each.name && std::strcmp(each.name, feature) == 0) nodes = bits_of(each.node_bitmap, node_record_count);
  });
  return nodes;
}

// Features joined by & or |, read from left to right as Slurm does; brackets and counts are left to stock.
std::string apply_constraint(const job_details &details, std::optional<Bits> &within) {
  if (!details.features) return "";
  bool understood = true;
  int operation = FEATURE_OP_AND;
  Bits matching(node_record_count);
  matching.set_all();
  for_each<job_feature_t>(details.feature_list, [&](job_feature_t &feature) {
    if (feature.count || feature.paren || feature.op_code == FEATURE_OP_XOR || feature.op_code == FEATURE_OP_XAND ||
        !feature.name)
      understood = false;
    else if (operation == FEATURE_OP_OR)
      matching |= nodes_with(feature.name);
    else
      matching &= nodes_with(feature.name);
    operation = feature.op_code;
  });
  if (!understood) return fmt::format("the constraint {} is not planned", details.features);
  within = std::move(matching);
  return "";
}

std::time_t would_end(const job_record_t &job, std::time_t now) {
  return now + 60 * static_cast<std::time_t>(minutes_allowed(job));
}

} // namespace

std::uint32_t minutes_allowed(const job_record_t &job) {
  constexpr std::uint32_t a_year = 365 * 1440;
  std::uint32_t minutes = job.time_limit;
  if (minutes == NO_VAL) minutes = job.part_ptr ? job.part_ptr->max_time : INFINITE;
  return minutes == INFINITE || minutes == NO_VAL ? a_year : std::min(minutes, a_year);
}

Bits EligibleNodes::Answer::eligible() const {
  Bits nodes = partition ? *partition : Bits();
  if (within) nodes &= *within;
  nodes -= without;
  return nodes;
}

EligibleNodes::EligibleNodes(std::time_t now) : now_(now) {
  for_each<slurmctld_resv_t>(resv_list, [this](slurmctld_resv_t &record) {
    reservation_comes_ = reservation_comes_ || (record.node_bitmap && record.start_time > now_);
    if (record.end_time > now_ && record.node_bitmap)
      reservations_.push_back({&record, bits_of(record.node_bitmap, node_record_count)});
  });
}

// A reservation that begins before the job could end keeps its nodes from jobs of others, unless it is the job's own.
void EligibleNodes::reserve(const job_record_t &job, Answer &answer) const {
  const std::time_t end = reservations_.empty() ? 0 : would_end(job, now_);
  bool found = !job.resv_name;
  for (const Reservation &each : reservations_) {
    if (job.resv_name && job.resv_ptr == each.record) {
      found = each.record->start_time <= now_;
      if (each.record->core_bitmap && !(each.record->ctld_flags & RESV_CTLD_FULL_NODE))
        answer.left = fmt::format("reservation {} is of single cores", job.resv_name);
      if (answer.within)
        *answer.within &= each.nodes;
      else
        answer.within = each.nodes;
    } else if (each.record->start_time < end) {
      if (answer.without.size() == 0) answer.without = Bits(node_record_count);
      answer.without |= each.nodes;
    }
  }
  if (!found) answer.left = fmt::format("reservation {} has not begun, or is several", job.resv_name);
}

EligibleNodes::Answer EligibleNodes::of(const job_record_t &job) {
  Answer answer;
  if (!job.part_ptr || !job.part_ptr->node_bitmap || !job.details) {
    answer.left = "it has no partition";
    return answer;
  }
  if (job.part_ptr_list && list_count(job.part_ptr_list) > 1) {
    answer.left = "it names several partitions";
    return answer;
  }
  const auto [partition, fresh] = partitions_.try_emplace(job.part_ptr);
  if (fresh) partition->second = std::make_shared<Bits>(bits_of(job.part_ptr->node_bitmap, node_record_count));
  answer.partition = partition->second;
  if (job.details->exc_node_bitmap) answer.without = bits_of(job.details->exc_node_bitmap, node_record_count);
  if (job.details->req_node_bitmap) answer.required = bits_of(job.details->req_node_bitmap, node_record_count);
  answer.left = apply_constraint(*job.details, answer.within);
  if (answer.left.empty()) reserve(job, answer);
  return answer;
}

} // namespace harmony
