// Times and sizes as people write them in harmony.conf. Pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace harmony::units {

constexpr std::int64_t second = 1000, minute = 60 * second, hour = 60 * minute; // in milliseconds

// A whole number with ms, s, m or h, in whatever case; without, seconds. False if it is none.
bool read_time(std::string_view text, std::int64_t &ms);
std::string time_text(std::int64_t ms);

// A whole number from 1 with K, M, G or T (powers of 1024), in whatever case.
bool read_size(std::string_view text, std::uint64_t &bytes);
std::string size_text(std::uint64_t bytes); // of a multiple of 1024

} // namespace harmony::units
