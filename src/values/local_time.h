// A moment as people read it.
#pragma once

#include <ctime>
#include <string>

namespace harmony {

// 2026-11-16T07:26:11, in local time; empty if there is no such moment.
inline std::string local_time(std::time_t when) {
  std::tm parts = {};
  char text[32];
  if (!localtime_r(&when, &parts)) return {};
  return std::string(text, std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &parts));
}

} // namespace harmony
