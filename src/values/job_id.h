// The ways people name a job: 17, 17_3 (a task of a job array), 17+1 (a component of a hetjob).
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>

namespace harmony {

struct JobId {
  std::uint32_t job = 0;
  std::optional<std::uint32_t> array_task;
  std::optional<std::uint32_t> het_component;
};

namespace job_id_detail {

// Nothing but digits, so that neither a sign nor a blank slips through. Slurm keeps the numbers at the upper end for
// special meanings (NO_VAL and the like).
inline std::optional<std::uint32_t> number(std::string_view text) {
  std::uint32_t value = 0;
  if (text.empty() || text.find_first_not_of("0123456789") != text.npos) return std::nullopt;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (problem != std::errc() || end != text.data() + text.size() || value >= 0xfffffff0) return std::nullopt;
  return value;
}

} // namespace job_id_detail

inline std::optional<JobId> read_job_id(std::string_view text) {
  const std::size_t mark = text.find_first_of("_+");
  const std::optional<std::uint32_t> job = job_id_detail::number(text.substr(0, mark));
  if (!job || *job == 0) return std::nullopt;
  JobId id;
  id.job = *job;
  if (mark == text.npos) return id;
  std::optional<std::uint32_t> &part = text[mark] == '_' ? id.array_task : id.het_component;
  part = job_id_detail::number(text.substr(mark + 1));
  if (!part) return std::nullopt;
  return id;
}

} // namespace harmony
