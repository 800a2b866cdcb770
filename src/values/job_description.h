// What a job's owner says of it: the values of sbatch's --harmony-* options. Untrusted wherever they come from, so each
// has a strict grammar, read here and nowhere else: in sbatch, on the node, and in slurmctld.
//
// Header only and free of the C++ run-time library, because the SPANK plugin reads it inside every srun and slurmstepd.
#pragma once

#include <cstdint>
#include <string_view>

namespace harmony {

// What each option allows, for error messages and help.
constexpr const char *type_allowed = "1 to 32 of a-z, 0-9, '_', '.' and '-', the first a letter or a digit";
constexpr const char *ps_allowed = "a whole number from 0 to 1024";
constexpr const char *epochs_allowed = "a whole number from 1 to 1000000";
constexpr const char *model_mb_allowed = "megabytes from 0.001 to 1000000, with at most three decimals";

constexpr std::size_t max_type_length = 32;
constexpr std::uint32_t max_ps = 1024;
constexpr std::uint32_t max_epochs = 1000000;

namespace detail {

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }

constexpr bool is_type_letter(char c) { return (c >= 'a' && c <= 'z') || is_digit(c); }

} // namespace detail

// A kind of training job, such as resnet50.
constexpr bool is_type(std::string_view text) {
  if (text.empty() || text.size() > max_type_length || !detail::is_type_letter(text.front())) return false;
  for (char c : text)
    if (!detail::is_type_letter(c) && c != '_' && c != '.' && c != '-') return false;
  return true;
}

// Reads a whole number from `low` to `high`, digits only; false if it is none.
constexpr bool read_whole_number(std::string_view text, std::uint32_t low, std::uint32_t high, std::uint32_t &value) {
  if (text.empty() || text.size() > 9) return false;
  std::uint32_t number = 0;
  for (char c : text) {
    if (!detail::is_digit(c)) return false;
    number = number * 10 + static_cast<std::uint32_t>(c - '0');
  }
  if (number < low || number > high) return false;
  value = number;
  return true;
}

constexpr bool read_ps(std::string_view text, std::uint32_t &ps) { return read_whole_number(text, 0, max_ps, ps); }

constexpr bool read_epochs(std::string_view text, std::uint32_t &epochs) {
  return read_whole_number(text, 1, max_epochs, epochs);
}

// Megabytes with up to three decimals, as kilobytes.
constexpr bool read_model_mb(std::string_view text, std::uint32_t &kilobytes) {
  const std::size_t point = text.find('.');
  std::uint32_t whole = 0, part = 0;
  if (!read_whole_number(text.substr(0, point), 0, 1000000, whole)) return false;
  if (point != std::string_view::npos) {
    const std::string_view decimals = text.substr(point + 1);
    if (decimals.size() > 3 || !read_whole_number(decimals, 0, 999, part)) return false;
    for (std::size_t i = decimals.size(); i < 3; ++i) part *= 10;
  }
  const std::uint32_t total = whole * 1000 + part;
  if (total < 1 || total > 1000000000) return false;
  kilobytes = total;
  return true;
}

} // namespace harmony
