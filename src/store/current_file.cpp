#include "src/store/current_file.h"

#include "src/store/manifest.h"
#include "src/values/job_description.h"

namespace harmony {

std::optional<int> version_of_name(std::string_view name) {
  std::uint32_t number = 0;
  static_assert(max_model_version == 999999999, "read_whole_number takes nine digits");
  if (!read_whole_number(name, 1, max_model_version, number) || name.front() == '0') return std::nullopt;
  return static_cast<int>(number);
}

std::vector<int> versions_of_current(std::string_view text) {
  std::vector<int> versions;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const std::optional<int> version = version_of_name(text.substr(0, end));
    if (end == std::string_view::npos || !version || versions.size() > max_versions_before) return {};
    versions.push_back(*version);
    text.remove_prefix(end + 1);
  }
  return versions;
}

std::string current_text(const std::vector<int> &versions) {
  std::string text;
  for (const int version : versions) text += std::to_string(version) + "\n";
  return text;
}

std::vector<int> with_version(const std::vector<int> &versions, int version) {
  std::vector<int> next = {version};
  for (const int before : versions)
    if (next.size() <= max_versions_before) next.push_back(before);
  return next;
}

} // namespace harmony
