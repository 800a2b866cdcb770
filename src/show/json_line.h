// JSON in one line, without its end: what travels between processes.
#pragma once

#include <json/json.h>

#include <string>

namespace harmony {

inline std::string json_line(const Json::Value &value) {
  Json::StreamWriterBuilder writer;
  writer["indentation"] = "";
  return Json::writeString(writer, value);
}

} // namespace harmony
