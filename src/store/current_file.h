// The file CURRENT of a model store: the version in use, and below it those that were in use before, newest first, one
// a line. A rollback takes the first line away; so one atomic write switches and remembers.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace harmony {

constexpr std::size_t max_versions_before = 16;
constexpr std::size_t max_current_size = 1024;

// A version's number as its directory is called: 1 to max_model_version, without leading zeros.
std::optional<int> version_of_name(std::string_view name);

// Empty if the text is not what current_text() writes.
std::vector<int> versions_of_current(std::string_view text);
std::string current_text(const std::vector<int> &versions);

// What CURRENT becomes when `version` is taken in use.
std::vector<int> with_version(const std::vector<int> &versions, int version);

} // namespace harmony
