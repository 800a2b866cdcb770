// JSON files that nobody vouches for. For one thread.
#pragma once

#include <json/json.h>

#include <string>

namespace harmony {

// The object that the file holds. Throws BadInput (line_reader.h): it cannot be read, is too large, is no JSON, has a
// key twice, or is no object.
Json::Value read_json_object(const std::string &path);

} // namespace harmony
