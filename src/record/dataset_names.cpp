#include "src/record/dataset_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>

namespace harmony {
namespace {

constexpr std::string_view pattern = "00000000T000000Z-0000"; // 0: any digit
constexpr std::size_t stamp_length = 16;
constexpr int most_count = 9999;

bool ends_with(std::string_view text, std::string_view ending) {
  return text.size() > ending.size() && text.substr(text.size() - ending.size()) == ending;
}

std::string stamp_of(std::time_t time) {
  std::tm utc{};
  gmtime_r(&time, &utc);
  // a clock may say anything; a year of five digits would not sort
  const int year = std::clamp(utc.tm_year + 1900, 0, 9999);
  return fmt::format("{:04}{:02}{:02}T{:02}{:02}{:02}Z", year, utc.tm_mon + 1, utc.tm_mday, utc.tm_hour, utc.tm_min,
                     utc.tm_sec);
}

std::time_t time_of(const std::string &stamp) {
  const auto number = [&stamp](std::size_t at, std::size_t digits) {
    return std::atoi(stamp.substr(at, digits).c_str());
  };
  std::tm utc{};
  utc.tm_year = number(0, 4) - 1900;
  utc.tm_mon = number(4, 2) - 1;
  utc.tm_mday = number(6, 2);
  utc.tm_hour = number(9, 2);
  utc.tm_min = number(11, 2);
  utc.tm_sec = number(13, 2);
  return timegm(&utc);
}

} // namespace

std::string dataset_stem(std::string_view name) {
  if (name.empty() || name[0] == '.') return {};
  for (const std::string_view ending : {plain_ending, packed_ending})
    if (ends_with(name, ending)) return std::string(name.substr(0, name.size() - ending.size()));
  return {};
}

bool is_own_stem(std::string_view stem) {
  return stem.size() == pattern.size() && std::equal(stem.begin(), stem.end(), pattern.begin(), [](char c, char form) {
           return form == '0' ? c >= '0' && c <= '9' : c == form;
         });
}

std::string next_stem(std::time_t now, const std::string &newest) {
  const std::string stamp = stamp_of(now);
  if (!is_own_stem(newest) || stamp + "-0000" > newest) return stamp + "-0000";
  const std::string before = newest.substr(0, stamp_length);
  const int count = std::atoi(newest.substr(stamp_length + 1).c_str());
  if (count < most_count) return fmt::format("{}-{:04}", before, count + 1);
  return stamp_of(time_of(before) + 1) + "-0000";
}

std::vector<DatasetEntry> dataset_entries(const std::vector<std::string> &names) {
  std::map<std::string, DatasetEntry> by_stem;
  for (const std::string &name : names) {
    const std::string stem = dataset_stem(name);
    if (stem.empty()) continue;
    DatasetEntry &entry = by_stem[stem];
    entry.stem = stem;
    (ends_with(name, packed_ending) ? entry.packed : entry.plain) = true;
  }
  std::vector<DatasetEntry> entries;
  for (auto &[stem, entry] : by_stem) entries.push_back(std::move(entry));
  return entries;
}

} // namespace harmony
