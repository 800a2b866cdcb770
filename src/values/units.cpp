#include "src/values/units.h"

#include "src/values/job_description.h"
#include "src/values/mode.h"

#include <fmt/format.h>

#include <algorithm>

namespace harmony::units {
namespace {

struct Unit {
  const char *name;
  std::int64_t ms;
};

constexpr Unit time_units[] = {{"h", hour}, {"m", minute}, {"s", second}, {"ms", 1}};

struct SizeUnit {
  const char *name;
  std::uint64_t bytes;
};

constexpr SizeUnit size_units[] = {{"T", std::uint64_t{1} << 40}, {"G", 1 << 30}, {"M", 1 << 20}, {"K", 1 << 10}};

} // namespace

std::string time_text(std::int64_t ms) {
  if (ms == 0) return "0s";
  for (const Unit &unit : time_units)
    if (ms % unit.ms == 0) return fmt::format("{}{}", ms / unit.ms, unit.name);
  return fmt::format("{}ms", ms);
}

bool read_time(std::string_view text, std::int64_t &ms) {
  const std::size_t end = std::min(text.find_first_not_of("0123456789"), text.size());
  std::uint32_t number = 0;
  if (!read_whole_number(text.substr(0, end), 0, 999999999, number)) return false;
  const std::string_view name = end == text.size() ? "s" : text.substr(end);
  for (const Unit &unit : time_units)
    if (detail::same_word(name, unit.name)) {
      ms = number * unit.ms;
      return true;
    }
  return false;
}

bool read_size(std::string_view text, std::uint64_t &bytes) {
  const std::size_t end = std::min(text.find_first_not_of("0123456789"), text.size());
  std::uint32_t number = 0;
  if (end == text.size() || !read_whole_number(text.substr(0, end), 1, 999999999, number)) return false;
  for (const SizeUnit &unit : size_units)
    if (detail::same_word(text.substr(end), unit.name)) {
      bytes = number * unit.bytes;
      return number <= UINT64_MAX / unit.bytes;
    }
  return false;
}

std::string size_text(std::uint64_t bytes) {
  for (const SizeUnit &unit : size_units)
    if (bytes % unit.bytes == 0) return fmt::format("{}{}", bytes / unit.bytes, unit.name);
  return fmt::format("{}K", bytes >> 10);
}

} // namespace harmony::units
