// Times as traces and Slurm write them.
#include "src/sim/input/read_formats.h"

namespace harmony {
namespace {

// So many digits at `at`, in range.
std::optional<int> digits_at(std::string_view text, std::size_t at, std::size_t count, int least, int most) {
  const auto value = whole_in(text.substr(at, count), least, most);
  if (!value || text[at] == '-') return std::nullopt;
  return static_cast<int>(*value);
}

bool is_leap(int year) { return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0; }

// By Howard Hinnant's days_from_civil: years begin in March, so that the odd day is the last.
std::int64_t days_since_1970(int year, int month, int day) {
  year -= month <= 2 ? 1 : 0;
  const int era = year / 400, of_era = year - era * 400;
  const int of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
  return std::int64_t{era} * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

} // namespace

std::optional<double> moment_in(std::string_view text) {
  if (text.size() != 19 || text[4] != '-' || text[7] != '-' || (text[10] != ' ' && text[10] != 'T') ||
      text[13] != ':' || text[16] != ':')
    return std::nullopt;
  const auto year = digits_at(text, 0, 4, 1970, 9999), month = digits_at(text, 5, 2, 1, 12);
  const auto day = digits_at(text, 8, 2, 1, 31), hour = digits_at(text, 11, 2, 0, 23);
  const auto minute = digits_at(text, 14, 2, 0, 59), second = digits_at(text, 17, 2, 0, 60);
  if (!year || !month || !day || !hour || !minute || !second) return std::nullopt;
  constexpr int lengths[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  if (*day > lengths[*month - 1] + (*month == 2 && is_leap(*year) ? 1 : 0)) return std::nullopt;
  return static_cast<double>(days_since_1970(*year, *month, *day) * 86400 + *hour * 3600 + *minute * 60 + *second);
}

std::optional<double> slurm_duration_in(std::string_view text) {
  double days = 0;
  const std::size_t dash = text.find('-');
  if (dash != std::string_view::npos) {
    const auto given = whole_in(text.substr(0, dash), 0, 100000);
    if (!given) return std::nullopt;
    days = static_cast<double>(*given);
    text.remove_prefix(dash + 1);
  }
  double seconds = 0;
  int parts = 0;
  for (bool more = true; more; ++parts) {
    const std::size_t colon = text.find(':');
    more = colon != std::string_view::npos;
    const auto part = number_in(text.substr(0, colon), 0, 1e6);
    if (!part || text.front() == '-') return std::nullopt;
    seconds = seconds * 60 + *part;
    if (more) text.remove_prefix(colon + 1);
  }
  if (parts < 2 || parts > 3 || (dash != std::string_view::npos && parts != 3)) return std::nullopt;
  return days * 86400 + seconds;
}

} // namespace harmony
